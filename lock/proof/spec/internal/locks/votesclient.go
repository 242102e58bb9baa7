package locks

import (
	"github.com/lockscope/lockscope/lock/proof/spec/internal/attempt"
	"github.com/lockscope/lockscope/lock/proof/spec/internal/explore"
)

// Steps implements [explore.Model].
func (m *Votes) Steps(s votesState, each func(explore.Step, votesState)) {
	for a := range m.Attempts {
		m.clientSteps(s, a, each)
	}
	for j := range s.nodes {
		for a := range m.Attempts {
			m.nodeSteps(s, a, j, each)
		}
		m.faults(s, j, each)
	}
	each(explore.Step{Text: "a tick passes"}, m.tick(s, false))
	if first := s.attempts[0]; m.LagEvery > 0 && int(first.steady) >= m.LagEvery &&
		(first.phase == attempt.Asking || first.phase == attempt.Held || first.keep > 0) {
		each(explore.Step{Text: "a tick passes, which the clock of client 1 misses"}, m.tick(s, true))
	}
}

// clientSteps are what an attempt, or its lease, may do next.
func (m *Votes) clientSteps(s votesState, a int, each func(explore.Step, votesState)) {
	switch at := s.attempts[a]; at.phase {
	case attempt.Idle:
		if m.mayStart(&s, a) {
			each(explore.Step{Text: "{c} sends acquire to all nodes", Client: a}, m.start(s, a))
		}
	case attempt.Asking:
		if s.tally(a) >= m.quorum() && m.validity(at.age) > 0 {
			each(explore.Step{Text: "{c} has a quorum: its lease is valid", Client: a}, m.win(s, a))
		}
		if !m.Patient {
			each(explore.Step{Text: "{c} gives its attempt up and sends releases", Client: a}, m.giveUp(s, a))
		}
	case attempt.Held:
		if a == 0 && at.round == 0 && int(at.rounds) < m.Rounds {
			each(explore.Step{Text: "{c} begins a round of renewal and sends extend to all nodes", Client: a}, m.renew(s, a))
		}
		if a == 0 && m.Releases {
			each(explore.Step{Text: "{c} ends its lease and sends releases", Client: a}, m.release(s, a))
		}
		m.roundSteps(s, a, each)
	case attempt.Over:
		if m.Rules.HandOverAfterRelease && at.left > 0 {
			s.attempts[a].phase = attempt.Held
			each(explore.Step{Text: "{c} hands its lease over inside the process", Client: a}, s)
		}
		if m.Rules.ProlongRevives {
			m.roundSteps(s, a, each)
		}
	}
}

// mayStart lets clients 1 and 2 begin in this order where that makes no difference, and a
// reused token be used only where the first attempt with it has failed.
func (m *Votes) mayStart(s *votesState, a int) bool {
	if m.Rules.TokenReused && a == 1 {
		return s.attempts[0].phase == attempt.Over
	}
	return true
}

func (m *Votes) start(s votesState, a int) votesState {
	s.attempts[a].phase = attempt.Asking
	for j := range s.nodes {
		s.nodes[j].calls[a].acquire = attempt.Pending
	}
	return s
}

// tally is how many nodes have granted, as far as the client knows.
func (s *votesState) tally(a int) (n int) {
	for j := range s.nodes {
		if s.nodes[j].calls[a].acquire == attempt.Granted {
			n++
		}
	}
	return n
}

// validity is what is left of the TTL for an attempt that began so long ago.
func (m *Votes) validity(age uint8) int {
	if m.Rules.CountedLate {
		age = 0
	}
	return m.TTL - int(age) - m.drift()
}

func (m *Votes) win(s votesState, a int) votesState {
	at := &s.attempts[a]
	at.phase, at.left, at.age = attempt.Held, uint8(m.validity(at.age)), 0
	if a == 0 {
		at.keep = uint8(m.MinHold)
	}
	for j := range s.nodes {
		if c := &s.nodes[j].calls[a]; c.acquire == attempt.Granted || c.acquire == attempt.Refused {
			c.acquire = attempt.Unsent
		}
	}
	return s
}

// giveUp undoes an attempt on every node that may have granted it, or may come to.
func (m *Votes) giveUp(s votesState, a int) votesState {
	var without [votesNodes]bool
	for j := range s.nodes {
		c := &s.nodes[j].calls[a]
		without[j] = !c.mayArrive && (c.acquire == attempt.Refused || c.acquire == attempt.Late)
	}
	m.end(&s, a)
	for j := range s.nodes {
		if c := &s.nodes[j].calls[a]; without[j] {
			c.release = attempt.Undone
			s.nodes[j].settle(m, a)
		}
	}
	return s
}

func (m *Votes) release(s votesState, a int) votesState {
	left := s.attempts[a].left
	m.end(&s, a)
	if m.Rules.HandOverAfterRelease {
		s.attempts[a].left = left
	}
	return s
}

// end ends an attempt or its lease, and sends releases behind what is under way: what was
// not answered by then may be carried out before them or after.
func (m *Votes) end(s *votesState, a int) {
	at := &s.attempts[a]
	at.phase, at.age, at.left, at.rounds = attempt.Over, 0, 0, 0
	at.steady = uint8(m.LagEvery)
	if !m.Rules.ProlongRevives {
		at.round = 0
	}
	for j := range s.nodes {
		c := &s.nodes[j].calls[a]
		c.giveUpAcquire()
		if at.round == 0 {
			c.giveUpExtend()
		}
		if c.acquire != attempt.Late {
			c.acquire = attempt.Unsent
		}
		c.release = attempt.Releasing
	}
}

func (c *votesCalls) giveUpAcquire() {
	if c.acquire == attempt.Pending {
		c.acquire, c.mayArrive = attempt.Late, true
	}
}

func (c *votesCalls) giveUpExtend() {
	if c.extend == attempt.Extending {
		c.lateExtend, c.mayArrive = true, true
	}
	c.extend = attempt.NotExtended
}

func (m *Votes) renew(s votesState, a int) votesState {
	s.attempts[a].round = 1
	s.attempts[a].rounds++
	for j := range s.nodes {
		c := &s.nodes[j].calls[a]
		c.giveUpAcquire()
		c.extend = attempt.Extending
	}
	return s
}

// roundSteps end a round of renewal: by a quorum, or without.
func (m *Votes) roundSteps(s votesState, a int, each func(explore.Step, votesState)) {
	at := &s.attempts[a]
	if at.round == 0 {
		return
	}
	votes := 0
	for j := range s.nodes {
		if s.nodes[j].calls[a].extend == attempt.Extended {
			votes++
		}
	}
	validity := m.validity(at.round - 1)
	at.round = 0
	for j := range s.nodes {
		s.nodes[j].calls[a].giveUpExtend()
	}
	each(explore.Step{Text: "{c} gives its round of renewal up", Client: a}, s)
	if votes >= m.quorum() && validity > 0 {
		at.phase, at.left = attempt.Held, max(at.left, uint8(validity))
		each(explore.Step{Text: "{c} has a quorum for its round: its lease is renewed", Client: a}, s)
	}
}

// tick lets time pass. A lease ends when its validity is over by its holder's clock.
func (m *Votes) tick(s votesState, lag bool) votesState {
	for a := range s.attempts {
		if a == 0 && lag {
			s.attempts[a].steady = 0
			continue
		}
		at := &s.attempts[a]
		at.steady = min(at.steady+1, uint8(m.LagEvery))
		if at.phase == attempt.Asking {
			at.age = min(at.age+1, uint8(m.TTL))
		}
		if at.round > 0 {
			at.round = min(at.round+1, uint8(m.TTL+1))
		}
		if at.keep = max(at.keep, 1) - 1; at.keep == 0 {
			at.kept = 0
		}
		m.watch(&s, a)
	}
	for j := range s.nodes {
		s.nodes[j].tick()
	}
	return s
}

// watch is what an attempt or a lease does by its timer.
func (m *Votes) watch(s *votesState, a int) {
	at := &s.attempts[a]
	switch {
	case at.phase == attempt.Asking && m.validity(at.age) <= 0:
		*s = m.giveUp(*s, a)
	case at.phase == attempt.Over:
		at.left = max(at.left, 1) - 1
	case at.phase == attempt.Held && at.left > 1:
		at.left--
	case at.phase == attempt.Held && at.left == 1 && m.Rules.LossLate:
		at.left = 0
	case at.phase == attempt.Held:
		m.end(s, a)
	}
}
