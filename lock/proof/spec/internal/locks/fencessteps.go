package locks

import (
	"slices"

	"github.com/lockscope/lockscope/lock/proof/spec/internal/explore"
)

// Steps implements [explore.Model].
func (m *Fences) Steps(s fencesState, each func(explore.Step, fencesState)) {
	for a := range m.Attempts {
		m.clientSteps(s, a, each)
		for j := range s.nodes {
			m.nodeSteps(s, a, j, each)
		}
	}
	silent := false
	for j, n := range s.nodes {
		silent = silent || n.silent > 0
		if n.holder != 0 {
			to := s
			to.nodes[j].holder, to.nodes[j].grant = 0, 0
			each(explore.Step{Text: "the key on {n} is released, or expires", Node: j}, to)
		}
		if int(s.wipe) < m.Wipes {
			to := s
			to.wipe++
			to.nodes[j].counter, to.nodes[j].holder, to.nodes[j].grant, to.nodes[j].silent = 0, 0, 0, uint8(m.Quiet)
			each(explore.Step{Text: "{n} is emptied", Node: j}, to)
		}
	}
	if silent {
		s.now++
		for j := range s.nodes {
			s.nodes[j].silent = max(s.nodes[j].silent, 1) - 1
		}
		each(explore.Step{Text: "a tick passes"}, s)
	}
}

func (m *Fences) clientSteps(s fencesState, a int, each func(explore.Step, fencesState)) {
	do := func(text string, to fencesState) { each(explore.Step{Text: text, Client: a}, to) }
	switch at := &s.attempts[a]; at.phase {
	case fenceIdle:
		if a == 0 || s.attempts[a-1].phase >= fenceWon || !m.InTurn && s.attempts[a-1].phase != fenceIdle {
			m.start(&s, a)
			do("{c} sends acquire to all nodes", s)
		}
	case fenceAsking:
		m.decide(s, a, do)
		do("{c} gives its attempt up", m.fail(s, a))
	case fenceRaising:
		if s.agreed(a) >= fenceQuorum {
			do("{c} has a quorum that agrees: its lease is valid", m.win(s, a, at.target))
		}
		do("{c} gives its attempt up", m.fail(s, a))
	case fenceWon:
		m.holderSteps(s, a, each)
	}
}

func (m *Fences) start(s *fencesState, a int) {
	at := &s.attempts[a]
	at.phase = fenceAsking
	for _, other := range s.attempts {
		at.after = max(at.after, other.handed)
	}
	for j := range s.nodes {
		n := &s.nodes[j]
		if m.InTurn {
			n.holder, n.grant, n.calls = 0, 0, [fenceAttempts]fenceCalls{}
		}
		n.calls[a].asked = true
	}
}

func (m *Fences) fail(s fencesState, a int) fencesState {
	s.attempts[a] = fenceAttempt{phase: fenceFailed}
	s.forgetAnswers(a)
	return s
}

// forgetAnswers is for an attempt that is decided: what may still arrive remains.
func (s *fencesState) forgetAnswers(a int) {
	for j := range s.nodes {
		c := &s.nodes[j].calls[a]
		if !c.raising {
			c.first = 0
		}
		c.last, c.raised = 0, false
	}
}

// decide is agreeOnFence: the fence is the largest counter of the grants, and a quorum
// must stand behind it. Where one does already, as much of the run is the lease's as it
// stands behind.
func (m *Fences) decide(s fencesState, a int, do func(string, fencesState)) {
	var fence, end uint8
	var ends []uint8
	for _, n := range s.nodes {
		c := n.calls[a]
		if c.first == 0 {
			continue
		}
		ends = append(ends, m.standsAt(c))
		if c.first > fence || c.first == fence && c.last > end {
			fence, end = c.first, c.last
		}
	}
	if len(ends) < fenceQuorum {
		return
	}
	at := &s.attempts[a]
	at.fence = fence
	slices.Sort(ends)
	switch behind := ends[len(ends)-fenceQuorum]; {
	case m.Rules.NotRaised, m.Rules.RunNotCounted && behind >= fence:
		do("{c} has a quorum: its lease is valid", m.win(s, a, end))
		return
	case behind >= fence:
		do("{c} has a quorum that agrees: its lease is valid", m.win(s, a, behind))
		return
	}
	at.phase, at.target, at.end = fenceRaising, end, end
	if m.Rules.RunNotCounted {
		at.target = fence
	}
	for j := range s.nodes {
		if c := &s.nodes[j].calls[a]; c.first != 0 && m.standsAt(*c) < at.target {
			c.raising = true
		}
	}
	do("{c} sends raise to the nodes whose counters are behind", s)
}

// standsAt is how far a node's counter is known to be.
func (m *Fences) standsAt(c fenceCalls) uint8 {
	if m.Rules.RunNotCounted {
		return c.first
	}
	return c.last
}

// agreed is how many nodes are known to stand behind the target.
func (s *fencesState) agreed(a int) (n int) {
	target := s.attempts[a].target
	for j := range s.nodes {
		if c := s.nodes[j].calls[a]; c.raised || c.first != 0 && !c.raising && c.last >= target {
			n++
		}
	}
	return n
}

func (m *Fences) win(s fencesState, a int, end uint8) fencesState {
	at := &s.attempts[a]
	if m.Rules.RunNotCounted && at.phase == fenceRaising {
		end = at.end
	}
	at.phase, at.end, at.target, at.handed = fenceWon, end, 0, at.fence
	s.forgetAnswers(a)
	return s
}

// holderSteps are what a lease may do: hand itself over with the next fence, and put its
// key back on a node that has lost it.
func (m *Fences) holderSteps(s fencesState, a int, each func(explore.Step, fencesState)) {
	at := &s.attempts[a]
	if m.HandOver && at.handed < at.end {
		to := s
		to.attempts[a].handed++
		for _, other := range s.attempts {
			to.disorder = to.disorder || m.RealTime && other.phase == fenceWon && other.handed > to.attempts[a].handed
		}
		each(explore.Step{Text: "{c} hands its lease over, with the next fence of its run", Client: a}, to)
	}
	for j, n := range s.nodes {
		if n.holder == 0 && int(s.filled) < m.Refills {
			to := s
			to.filled++
			to.nodes[j].refill(a, at.handed, at.end)
			each(explore.Step{Text: "{n} takes the key of {c} back", Client: a, Node: j}, to)
		}
	}
}

// refill is extend.lua where the key was lost: it comes back with the fence of the lease, and the counter with the last
// of its run.
func (n *fenceNode) refill(a int, fence, last uint8) {
	n.holder, n.grant, n.counter = uint8(a+1), fence, max(n.counter, last)
}

// nodeSteps are the calls of attempt a that node j may carry out next.
func (m *Fences) nodeSteps(s fencesState, a, j int, each func(explore.Step, fencesState)) {
	do := func(text string, to fencesState) { each(explore.Step{Text: text, Client: a, Node: j}, to) }
	if s.nodes[j].calls[a].asked {
		m.carryOutAcquire(s, a, j, do)
	}
	if s.nodes[j].calls[a].raising {
		n := &s.nodes[j]
		c := &n.calls[a]
		c.raising = false
		if m.mayRaise(n, a) {
			n.counter = max(n.counter, s.attempts[a].target)
			c.raised = s.attempts[a].phase == fenceRaising
			do("{n} raises its counter for {c}", s)
		} else {
			do("{n} does not raise its counter for {c}", s)
		}
	}
}

// mayRaise reports that the key is still the very grant that counted.
func (m *Fences) mayRaise(n *fenceNode, a int) bool {
	switch {
	case m.Rules.RaisedAnywhere:
		return true
	case m.Rules.RaisedByToken:
		return n.holder == uint8(a+1)
	}
	return n.holder == uint8(a+1) && n.grant == n.calls[a].first
}

func (m *Fences) carryOutAcquire(s fencesState, a, j int, do func(string, fencesState)) {
	n := &s.nodes[j]
	n.calls[a].asked = false
	first, last := m.acquire(n, a, int(s.now))
	if first == 0 {
		do("{n} refuses {c}", s)
		return
	}
	if int(s.lost) < m.Lost {
		to := s
		to.lost++
		do("{n} grants {c}, and its answer is lost", to)
	}
	if c := &n.calls[a]; c.first == 0 && s.attempts[a].phase == fenceAsking {
		c.first, c.last = first, last
	}
	do("{n} grants {c}", s)
	if int(s.twice) < m.Twice {
		s.twice++
		n.calls[a].asked = true
		do("{n} grants {c}, and will be asked once more", s)
	}
}

// acquire is acquire.lua: it returns the first and the last of the fences that are
// reserved, or 0 if the lock is not granted.
func (m *Fences) acquire(n *fenceNode, a, now int) (first, last uint8) {
	switch {
	case n.silent > 0:
		return 0, 0
	case n.holder == uint8(a+1):
		return n.grant, n.grant
	case n.holder != 0:
		return 0, 0
	}
	floor := now
	if a == m.Attempts-1 {
		floor = max(now-m.Late, 0)
	}
	if !m.Rules.FloorNotBounded {
		floor = max(floor, now-fenceSkew)
	}
	fence, run := max(int(n.counter)+1, floor), max(m.Run, 1)
	if m.Clock > 0 && fence > now+fenceSlack && !m.Rules.RunAheadOfClock {
		run = 1
	}
	n.holder, n.grant, n.counter = uint8(a+1), uint8(fence), uint8(fence+run-1)
	return n.grant, n.counter
}
