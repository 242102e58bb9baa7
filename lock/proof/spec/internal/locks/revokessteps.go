package locks

import (
	"slices"

	"github.com/lockscope/lockscope/lock/proof/spec/internal/attempt"
	"github.com/lockscope/lockscope/lock/proof/spec/internal/explore"
)

// Steps implements [explore.Model].
func (m *Revokes) Steps(s revokesState, each func(explore.Step, revokesState)) {
	for c := range m.Clients {
		m.clientSteps(s, c, func(text string, to revokesState) { each(explore.Step{Text: text, Client: c}, to) })
		for j := range s.nodes {
			m.nodeSteps(s, c, j, func(text string, to revokesState) { each(explore.Step{Text: text, Client: c, Node: j}, to) })
		}
	}
	for i := range m.Acts {
		m.actSteps(s, i, each)
	}
	for j := range s.nodes {
		m.faults(s, j, each)
	}
	each(explore.Step{Text: "a tick passes"}, m.tick(s, false))
	if first := s.clients[0]; m.LagEvery > 0 && int(first.steady) >= m.LagEvery && first.phase == attempt.Held {
		each(explore.Step{Text: "a tick passes, which the clock of client 1 misses"}, m.tick(s, true))
	}
}

func (m *Revokes) clientSteps(s revokesState, c int, do func(string, revokesState)) {
	at := s.clients[c]
	switch at.phase {
	case attempt.Idle:
		s.clients[c].phase = attempt.Asking
		do("{c} asks all nodes", s)
	case attempt.Asking:
		if s.grants(c) >= revokesQuorum && m.validity(at.age) > 0 {
			to := s
			to.clients[c] = revokesClient{phase: attempt.Held, left: uint8(m.validity(at.age)), steady: at.steady}
			do("{c} has a quorum: its lease is valid", to)
		}
		do("{c} gives its attempt up", m.release(s, c))
	case attempt.Held:
		do("{c} releases", m.release(s, c))
		if int(s.crashed) < m.Crashes {
			to := m.end(s, c)
			to.crashed++
			do("{c} crashes", to)
		}
		if at.round > 0 {
			m.endRound(s, c, do)
			return
		}
		if int(at.rounds) < m.Rounds {
			do("{c} begins a round of renewal and sends extend to all nodes", m.renew(s, c))
		}
		if m.HandOver && !at.handed {
			s.clients[c].handed, s.clients[c].rounds = true, 0
			do("{c} hands its lease over inside the process", s)
		}
	}
}

func (s *revokesState) grants(c int) (n int) {
	for j := range s.nodes {
		n += int(explore.Bit(s.nodes[j].granted&(1<<c) != 0))
	}
	return n
}

// release takes what a client has from all nodes, and buries its token there.
func (m *Revokes) release(s revokesState, c int) revokesState {
	s = m.end(s, c)
	for j := range s.nodes {
		n := &s.nodes[j]
		if int(n.holder) == c+1 {
			n.holder, n.ttl = 0, 0
		}
		n.late &^= 1 << c
		n.buried |= 1 << c
	}
	return s
}

// end ends an attempt or a lease. What was sent may still be carried out.
func (m *Revokes) end(s revokesState, c int) revokesState {
	s.clients[c] = revokesClient{phase: attempt.Over, handed: s.clients[c].handed}
	for j := range s.nodes {
		s.nodes[j].giveUpExtend(c)
		s.nodes[j].granted &^= 1 << c
	}
	return s
}

func (n *revokesNode) giveUpExtend(c int) {
	if n.extends[c] == attempt.Extending {
		n.late |= 1 << c
	}
	n.extends[c] = attempt.NotExtended
}

func (m *Revokes) renew(s revokesState, c int) revokesState {
	s.clients[c].round = 1
	s.clients[c].rounds++
	for j := range s.nodes {
		s.nodes[j].extends[c] = attempt.Extending
	}
	return s
}

func (m *Revokes) endRound(s revokesState, c int, do func(string, revokesState)) {
	at := &s.clients[c]
	votes := 0
	for j := range s.nodes {
		votes += int(explore.Bit(s.nodes[j].extends[c] == attempt.Extended))
		s.nodes[j].giveUpExtend(c)
	}
	validity := m.validity(at.round - 1)
	at.round = 0
	do("{c} gives its round of renewal up", s)
	if votes >= revokesQuorum && validity > 0 {
		at.left = max(at.left, uint8(validity))
		do("{c} has a quorum for its round: its lease is renewed", s)
	}
}

// actSteps are what act i may do next. It asks all nodes at once, and marks one after another.
func (m *Revokes) actSteps(s revokesState, i int, each func(explore.Step, revokesState)) {
	a := &s.acts[i]
	switch a.phase {
	case revokeIdle:
		for token := uint8(1); int(token) <= m.Clients; token++ {
			if s.having(token) < revokesQuorum {
				continue
			}
			to := s
			to.acts[i] = revokesAction{phase: revokeMarks, target: token, handed: s.clients[token-1].handed,
				read: s.freeIn(token)}
			each(explore.Step{Text: "act {s} reads that {c} holds the lock", Client: int(token) - 1, Slot: i + 1}, to)
		}
	case revokeMarks:
		for j := range s.nodes {
			if s.nodes[j].asked&(1<<i) == 0 {
				m.mark(s, i, j, each)
			}
		}
		m.conclude(s, i, each)
	}
}

// freeIn is when a quorum of the nodes does not have the key of a token any more.
func (s *revokesState) freeIn(token uint8) uint8 {
	var ttls []uint8
	for _, n := range s.nodes {
		if n.holder != token {
			n.ttl = 0
		}
		ttls = append(ttls, n.ttl)
	}
	slices.Sort(ttls)
	return ttls[revokesQuorum-1]
}

// conclude ends an act that has a quorum of replies, with its promise.
func (m *Revokes) conclude(s revokesState, i int, each func(explore.Step, revokesState)) {
	var ttls []uint8
	for j := range s.nodes {
		if r := s.nodes[j].replies[i]; r > 0 {
			ttls = append(ttls, r-1)
		}
	}
	needed := revokesQuorum
	if m.Rules.MarkOnMinority {
		needed = 1
	}
	if len(ttls) < needed {
		return
	}
	slices.Sort(ttls)
	a := &s.acts[i]
	a.phase, a.age, a.free = revokeDone, 0, ttls[needed-1]
	if m.Rules.PromiseByRead {
		a.free = a.read
	}
	a.read = 0
	for j := range s.nodes {
		s.nodes[j].replies[i] = 0
	}
	each(explore.Step{Text: "act {s} says when the lock is free at the latest", Slot: i + 1}, s)
}

// tick lets time pass. A lease ends when its validity is over by its holder's clock.
func (m *Revokes) tick(s revokesState, lag bool) revokesState {
	for c := range s.clients {
		at := &s.clients[c]
		if c == 0 && lag {
			at.steady = 0
			continue
		}
		at.steady = min(at.steady+1, uint8(m.LagEvery))
		if at.round > 0 {
			at.round = min(at.round+1, uint8(m.TTL+1))
		}
		switch {
		case at.phase == attempt.Asking:
			if at.age++; m.validity(at.age) <= 0 {
				s = m.release(s, c)
			}
		case at.phase == attempt.Held:
			if at.left--; at.left == 0 {
				s = m.end(s, c)
			}
		}
	}
	for i := range s.acts {
		s.acts[i].tick()
		if s.acts[i].phase == revokeFailed {
			for j := range s.nodes {
				s.nodes[j].replies[i] = 0
			}
		}
	}
	for j := range s.nodes {
		s.nodes[j].tick(m)
	}
	return s
}

func (a *revokesAction) tick() {
	switch a.phase {
	case revokeMarks:
		if a.age++; a.age > revokesAct {
			*a = revokesAction{phase: revokeFailed, target: a.target}
		}
	case revokeDone:
		a.free = max(a.free, 1) - 1
	}
}
