package locks

import (
	"github.com/lockscope/lockscope/lock/proof/spec/internal/attempt"
	"github.com/lockscope/lockscope/lock/proof/spec/internal/explore"
)

// nodeSteps are the calls of attempt a that node j may carry out next.
func (m *Votes) nodeSteps(s votesState, a, j int, each func(explore.Step, votesState)) {
	c := s.nodes[j].calls[a]
	do := func(text string, to votesState) { each(explore.Step{Text: text, Client: a, Node: j}, to) }
	if c.acquire == attempt.Pending {
		m.answerAcquire(s, a, j, do)
	}
	if c.acquire == attempt.Late {
		to := s
		to.nodes[j].acquire(m, a)
		to.nodes[j].calls[a].acquire = attempt.Unsent
		to.nodes[j].settle(m, a)
		do("{n} carries out a late acquire of {c}", to)
	}
	if c.extend == attempt.Extending {
		m.answerExtend(s, a, j, do)
	}
	if c.lateExtend {
		to := s
		to.nodes[j].extend(m, a)
		to.nodes[j].calls[a].lateExtend = false
		to.nodes[j].settle(m, a)
		do("{n} carries out a late extend of {c}", to)
	}
	if c.release == attempt.Releasing {
		to := s
		if to.keep(m, a, j) {
			do("{n} keeps the lock of {c} for the rest of its minimum hold", to)
			return
		}
		to.nodes[j].release(m, a)
		do("{n} carries out the release of {c}", to)
	}
}

func (m *Votes) answerAcquire(s votesState, a, j int, do func(string, votesState)) {
	to := s
	c := &to.nodes[j].calls[a]
	answer, text := attempt.Refused, "{n} refuses {c}"
	if to.nodes[j].acquire(m, a) {
		answer, text = attempt.Granted, "{n} grants {c}"
	}
	if c.acquire = answer; to.attempts[a].phase == attempt.Held {
		c.acquire = attempt.Unsent
	}
	do(text, to)
	if int(to.lost) < m.Lost {
		to.lost++
		c.mayArrive = true
		if c.acquire == attempt.Granted {
			c.acquire = attempt.Refused
		}
		do("{n} carries out the acquire of {c}, and its answer is lost", to)
	}
	if m.Rules.ResentAfterNoScript {
		s.nodes[j].calls[a].acquire = attempt.Late
		do("{n} answers {c} that it did not carry the acquire out, and is sent it again", s)
	}
}

func (m *Votes) answerExtend(s votesState, a, j int, do func(string, votesState)) {
	n := &s.nodes[j]
	if n.extend(m, a) {
		n.calls[a].extend = attempt.Extended
		do("{n} extends the lock of {c}", s)
	} else {
		n.calls[a].extend = attempt.NotVoted
		do("{n} does not extend for {c}, or puts the key back", s)
	}
	if int(s.lost) < m.Lost {
		s.lost++
		n.calls[a].extend, n.calls[a].mayArrive = attempt.NotVoted, true
		do("{n} carries out the extend of {c}, and its answer is lost", s)
	}
}

// acquire is acquire.lua: it reports that the lock is granted.
func (n *votesNode) acquire(m *Votes, a int) bool {
	token := m.token(a)
	switch {
	case n.silent > 0:
		return false
	case n.holder == token+1:
		return true
	case n.holder != 0 || n.calls[a].release == attempt.Buried:
		return false
	}
	n.holder, n.ttl = token+1, uint8(m.TTL)
	return true
}

// extend is extend.lua: it reports that it prolonged the lock of a. Where the lock is free
// it is put back, which is no vote.
func (n *votesNode) extend(m *Votes, a int) bool {
	token := m.token(a)
	switch {
	case n.holder == token+1 && n.calls[a].release == attempt.Kept && !m.Rules.KeptIsRenewed:
		return false
	case n.holder == token+1:
		n.ttl = uint8(m.TTL)
		return true
	case n.holder != 0:
		return false
	case n.calls[a].release == attempt.Buried && !m.Rules.RefillIgnoresTombstone:
		return false
	case n.silent > 0 && !m.Rules.RefillInQuarantine:
		return false
	}
	n.holder, n.ttl = token+1, uint8(m.TTL)
	return m.Rules.RefillVotes
}

// release is release.lua: what may still arrive must not take effect any more.
func (n *votesNode) release(m *Votes, a int) {
	token := m.token(a)
	if n.holder == token+1 || m.Rules.ReleaseWithoutToken {
		n.holder, n.ttl = 0, 0
	}
	c := &n.calls[a]
	if c.release = attempt.Undone; c.mayArrive && !m.Rules.NoTombstone {
		c.release = attempt.Buried
	}
	n.settle(m, a)
}

// keep is a release within a minimum hold, if the node has the lock.
func (s *votesState) keep(m *Votes, a, j int) bool {
	at, left := &s.attempts[a], s.attempts[a].keep
	if !m.Rules.KeptWithoutDrift {
		left += votesDrift
	}
	if at.keep == 0 || !s.nodes[j].keep(m, a, left) {
		return false
	}
	at.kept++
	s.nodes[j].settle(m, a)
	return true
}

// keep is extend.lua with the record of a holder that is done.
func (n *votesNode) keep(m *Votes, a int, left uint8) bool {
	if n.holder != m.token(a)+1 {
		return false
	}
	n.ttl, n.calls[a].release = left, attempt.Kept
	return true
}

func (n *votesNode) tick() {
	n.silent = max(n.silent, 1) - 1
	if n.ttl = max(n.ttl, 1) - 1; n.ttl == 0 {
		n.holder = 0
	}
	if n.savedTTL = max(n.savedTTL, 1) - 1; n.savedTTL == 0 {
		n.saved = 0
	}
}

// faults are what may happen to a node: it loses all keys, or gets those of a snapshot.
// Either way it has forgotten something, and its quarantine begins.
func (m *Votes) faults(s votesState, j int, each func(explore.Step, votesState)) {
	n := &s.nodes[j]
	if int(s.restored) < m.Restores && n.holder != 0 && n.saved == 0 {
		to := s
		to.nodes[j].saved, to.nodes[j].savedTTL = n.holder, n.ttl
		each(explore.Step{Text: "a snapshot is made of {n}", Node: j}, to)
	}
	if int(s.restored) < m.Restores && n.saved != 0 {
		to := s
		to.restored++
		to.nodes[j].forget(m)
		to.nodes[j].holder, to.nodes[j].ttl = n.saved, n.savedTTL
		to.nodes[j].saved, to.nodes[j].savedTTL = 0, 0
		each(explore.Step{Text: "{n} goes on from its snapshot", Node: j}, to)
	}
	if int(s.wiped) < m.Wipes {
		s.wiped++
		n.forget(m)
		each(explore.Step{Text: "{n} loses all its keys", Node: j}, s)
	}
}

func (n *votesNode) forget(m *Votes) {
	n.holder, n.ttl, n.silent = 0, 0, m.quarantine()
	for a := range n.calls {
		if r := n.calls[a].release; r == attempt.Undone || r == attempt.Buried {
			n.calls[a].release = attempt.Forgot
		}
	}
}
