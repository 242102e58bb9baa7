package constructs

import (
	"cmp"

	"github.com/lockscope/lockscope/lock/proof/spec/internal/attempt"
	"github.com/lockscope/lockscope/lock/proof/spec/internal/explore"
)

// Steps implements [explore.Model].
func (m *Permits) Steps(s permitsState, each func(explore.Step, permitsState)) {
	for c := range m.Callers {
		m.clientSteps(s, c, each)
	}
	m.actSteps(s, each)
	for j := range s.nodes {
		if int(s.wiped) < m.Wipes {
			to := s
			to.wiped++
			to.nodes[j] = permitsNode{silent: uint8(m.TTL)}
			if m.Rules.NoQuarantine {
				to.nodes[j].silent = 0
			}
			each(explore.Step{Text: "{n} loses all, and k with it", Node: j}, to)
		}
	}
	each(explore.Step{Text: "a tick passes"}, m.tick(s))
}

func (m *Permits) clientSteps(s permitsState, c int, each func(explore.Step, permitsState)) {
	at := &s.clients[c]
	slot := int(at.slot)
	do := func(text string, j, slot int, to permitsState) {
		each(explore.Step{Text: text, Client: c, Node: j, Slot: slot}, to)
	}
	switch at.phase {
	case attempt.Idle:
		for slot := range int(m.k(c)) {
			to := s
			to.clients[c] = permitsClient{phase: attempt.Asking, slot: uint8(slot), left: uint8(m.TTL)}
			do("{c} asks for slot {s}", 0, slot, to)
		}
	case attempt.Asking:
		grants := 0
		for j := range s.nodes {
			if to := s; s.nodes[j].grants&(1<<c) != 0 {
				grants++
			} else if to.nodes[j].grant(m, c, slot) {
				do("{n} grants slot {s} to {c}", j, slot, to)
			}
		}
		if grants > permitsNodes/2 {
			to := s
			to.forget(c)
			to.clients[c].phase = attempt.Held
			do("{c} has a permit of slot {s}", 0, slot, to)
		}
		do("{c} gives slot {s} back", 0, slot, s.end(c))
	case attempt.Held:
		do("{c} releases slot {s}", 0, slot, s.end(c))
		if m.Renewed {
			m.extend(s, c, do)
		}
	}
}

// mayAsk reports that a node answers a caller with this k; the first that asks tells it k.
func (n *permitsNode) mayAsk(m *Permits, c int) bool {
	if n.silent > 0 {
		return false
	}
	if n.k == 0 || n.k == m.k(c) {
		n.learn(m, m.k(c))
	}
	return n.k == m.k(c) || m.Rules.KUnchecked
}

func (n *permitsNode) grant(m *Permits, c, slot int) bool {
	if !n.mayAsk(m, c) {
		return false
	}
	if m.Rules.CountPerNode {
		for slot = 0; slot < int(m.k(c)) && n.holder[slot] != 0; slot++ {
		}
	}
	if slot == int(m.k(c)) || n.holder[slot] != 0 {
		return false
	}
	n.holder[slot], n.ttl[slot] = uint8(c)+1, uint8(m.TTL)
	n.grants |= 1 << c
	return true
}

// extend is a round of renewal: any quorum of the nodes that extend may be in it.
func (m *Permits) extend(s permitsState, c int, do func(string, int, int, permitsState)) {
	slot := int(s.clients[c].slot)
	var extends []int
	for j := range s.nodes {
		n := s.nodes[j]
		// Not n.k == m.k(c): a permit outlasts a change of k, unless its slot goes.
		if int(n.holder[slot]) == c+1 && (n.k == 0 || slot < int(n.k) || m.Rules.ExtendsUnchecked || m.Rules.KUnchecked) {
			extends = append(extends, j)
		}
	}
	for without := -1; without < len(extends); without++ {
		to := s
		votes := 0
		for i, j := range extends {
			if i != without {
				votes++
				to.nodes[j].ttl[slot] = uint8(m.TTL)
				if !m.Rules.ForgottenEarly {
					to.nodes[j].learn(m, cmp.Or(to.nodes[j].k, m.k(c)))
				}
			}
		}
		if votes > permitsNodes/2 {
			to.clients[c].left = uint8(m.TTL)
			do("{c} renews its permit of slot {s}", 0, slot, to)
		}
	}
}

// actSteps change k, node by node.
func (m *Permits) actSteps(s permitsState, each func(explore.Step, permitsState)) {
	if m.New == 0 {
		return
	}
	if s.act == notBegun {
		s.act = marking
		each(explore.Step{Text: "somebody begins to change k"}, s)
		return
	}
	marked := 0
	for j := range s.nodes {
		if int(s.nodes[j].k) == m.New {
			marked++
			continue
		}
		to := s
		to.nodes[j].learn(m, uint8(m.New))
		each(explore.Step{Text: "the act changes k on {n}", Node: j}, to)
	}
	if s.act == marking && (marked == permitsNodes || marked > permitsNodes/2 && m.Rules.MajorityIsEnough) {
		s.act, s.wait = waitingOut, uint8(m.TTL)
		if m.New > m.Old || m.Rules.ShrunkWithoutWait {
			s.act, s.wait = changed, 0
		}
		each(explore.Step{Text: "the act finds k changed on enough nodes"}, s)
	}
}

// forget drops what a client knows of grants.
func (s *permitsState) forget(c int) {
	for j := range s.nodes {
		s.nodes[j].grants &^= 1 << c
	}
}

// end gives a slot back, wherever a node has it for the client.
func (s permitsState) end(c int) permitsState {
	s.clients[c] = permitsClient{phase: attempt.Over}
	s.forget(c)
	for j := range s.nodes {
		n := &s.nodes[j]
		for slot := range n.holder {
			if int(n.holder[slot]) == c+1 {
				n.holder[slot], n.ttl[slot] = 0, 0
			}
		}
	}
	return s
}

func (m *Permits) tick(s permitsState) permitsState {
	for c := range s.clients {
		at := &s.clients[c]
		if at.left = max(at.left, 1) - 1; at.left == 0 && (at.phase == attempt.Asking || at.phase == attempt.Held) {
			// Nobody releases: a crash and a loss are alike, and the keys expire.
			s.forget(c)
			*at = permitsClient{phase: attempt.Over}
		}
	}
	for j := range s.nodes {
		n := &s.nodes[j]
		n.silent = max(n.silent, 1) - 1
		if n.known = max(n.known, 1) - 1; m.Idle && n.known == 0 {
			n.k = 0
		}
		for slot := range n.ttl {
			if n.ttl[slot] = max(n.ttl[slot], 1) - 1; n.ttl[slot] == 0 {
				n.holder[slot] = 0
			}
		}
	}
	if s.wait = max(s.wait, 1) - 1; s.act == waitingOut && s.wait == 0 {
		s.act = changed
	}
	return s
}
