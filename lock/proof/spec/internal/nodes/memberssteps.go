package nodes

import (
	"github.com/lockscope/lockscope/lock/proof/spec/internal/attempt"
	"github.com/lockscope/lockscope/lock/proof/spec/internal/explore"
)

// Steps implements [explore.Model].
func (m *Members) Steps(s membersState, each func(explore.Step, membersState)) {
	for c := range s.clients {
		m.clientSteps(s, c, each)
		for j := range m.size(c) {
			m.ask(s, c, j, each)
		}
	}
	m.change(s, each)
	if int(s.wiped) < m.Wipes {
		for j := range max(m.Old, m.New) {
			to := s
			n := &to.nodes[j]
			to.wiped, n.set, n.standing, n.left, n.holder, n.ttl = to.wiped+1, noSet, votes, 0, 0, 0
			each(explore.Step{Text: "{n} loses all its keys", Node: j}, to)
		}
	}
	if int(s.started) < m.Restarts {
		for j := range max(m.Old, m.New) {
			to := s
			to.started, to.nodes[j].former = to.started+1, true
			each(explore.Step{Text: "{n} restarts with all its keys", Node: j}, to)
		}
	}
	each(explore.Step{Text: "a tick passes"}, m.tick(s))
}

func (m *Members) clientSteps(s membersState, c int, each func(explore.Step, membersState)) {
	do := func(text string, to membersState) { each(explore.Step{Text: text, Client: c}, to) }
	at := &s.clients[c]
	switch {
	case at.phase == attempt.Idle:
		at.phase = attempt.Asking
		do("{c} begins an attempt", s)
	case at.phase == attempt.Asking:
		granted := 0
		for _, n := range s.nodes {
			granted += int(explore.Bit(n.granted[c]))
		}
		if granted > m.size(c)/2 {
			left := m.ttl(c) - at.age
			m.end(&s, c)
			s.clients[c] = guardClient{phase: attempt.Held, left: left}
			do("{c} has a quorum: its lease is valid", s)
		}
	case at.phase == attempt.Held && c == 0 && m.Renewed:
		m.renew(s, do, each)
	}
}

func (m *Members) end(s *membersState, c int) {
	s.clients[c] = guardClient{phase: attempt.Over}
	for j := range s.nodes {
		s.nodes[j].granted[c] = false
		if c == 0 {
			s.nodes[j].extended = attempt.NotExtended
		}
	}
	if c == 0 {
		s.round = 0
	}
}

// renew is client 1's round of renewal: its beginning, its extends, and its end.
func (m *Members) renew(s membersState, do func(string, membersState), each func(explore.Step, membersState)) {
	if s.round == 0 {
		s.round = 1
		for j := range m.Old {
			s.nodes[j].extended = attempt.Extending
		}
		do("{c} begins a round of renewal", s)
		return
	}
	count := 0
	for j := range m.Old {
		switch s.nodes[j].extended {
		case attempt.Extending:
			to := s
			text := "{n} does not extend for {c}, or puts the key back"
			if to.nodes[j].extended = attempt.NotVoted; m.extend(&to.nodes[j]) {
				to.nodes[j].extended = attempt.Extended
				text = "{n} extends the lock of {c}"
			}
			each(explore.Step{Text: text, Node: j}, to)
		case attempt.Extended:
			count++
		}
	}
	left := m.ttl(0) - min(s.round-1, m.ttl(0))
	s.round = 0
	for j := range m.Old {
		s.nodes[j].extended = attempt.NotExtended
	}
	if count > m.Old/2 {
		s.clients[0].left = max(s.clients[0].left, left)
		do("{c} has a quorum for its round: its lease is renewed", s)
	} else {
		do("{c} gives its round of renewal up", s)
	}
}

// extend is extend.lua for client 1: it reports that it prolonged the lock. A node that
// stands for another configuration refuses.
func (m *Members) extend(n *memberNode) bool {
	if n.set != noSet && !m.knows(n, 0) && !m.Rules.ExtendsUnchecked {
		return false
	}
	switch n.holder {
	case 1:
		n.ttl = m.ttl(0)
		return true
	case 0:
		if n.standing == votes && n.set != noSet && !n.former {
			n.holder, n.ttl = 1, m.ttl(0)
		}
	}
	return false
}

// ask is a client's acquire: where the node has no marker of its process, its quarantine begins, for the
// configuration of who asks.
func (m *Members) ask(s membersState, c, j int, each func(explore.Step, membersState)) {
	n := &s.nodes[j]
	do := func(text string) { each(explore.Step{Text: text, Client: c, Node: j}, s) }
	switch {
	case m.Alone && c == 1:
		if s.clients[c].phase == attempt.Asking && n.holder == 0 && (n.set == noSet || m.Rules.NumberDecides) {
			n.holder, n.ttl, n.granted[c] = uint8(c+1), m.ttl(c), true
			do("{n} grants {c}, which names no other node")
		}
	case n.set == noSet, m.knows(n, c) && n.former && (n.standing != changing || m.Rules.RestartEndsMark):
		n.set, n.standing, n.former, n.left = configuration(c), silent, false, m.ttl(c)
		do("{n} begins its quarantine, asked by {c}")
	case !m.knows(n, c):
	case n.standing == silent && n.left == 0:
		n.standing = votes
		do("{n} ends its quarantine, asked by {c}")
	case n.standing == votes && s.clients[c].phase == attempt.Asking && n.holder == 0:
		n.holder, n.ttl, n.granted[c] = uint8(c+1), m.ttl(c), true
		do("{n} grants {c}")
	}
}

// change is the act of changing the configuration, in two rounds. It may stop anywhere.
func (m *Members) change(s membersState, each func(explore.Step, membersState)) {
	if m.Alone || m.Rules.AnyConfiguration || m.Rules.TTLNotNamed {
		return
	}
	enough := s.begun || m.enough(&s)
	for j := range max(m.Old, m.New) {
		to := s
		n := &to.nodes[j]
		switch {
		case m.Rules.NodeByNode && n.set != newSet:
			n.set, n.standing = newSet, votes
			each(explore.Step{Text: "{n} goes over to the new configuration", Node: j}, to)
		case m.Rules.NodeByNode:
		case n.set != newSet && !s.begun:
			n.set, n.standing, n.former, n.left = newSet, changing, false, 0
			each(explore.Step{Text: "the change marks {n}", Node: j}, to)
		case n.standing == changing && enough && j < m.New:
			to.begun = true
			n.standing, n.left = silent, m.quarantine()
			if n.left == 0 {
				n.standing = votes
			}
			each(explore.Step{Text: "the change lets {n} begin its quarantine", Node: j}, to)
		}
	}
}

// enough reports that the first round has taken an old quorum away, and reached a new one
// and all that join.
func (m *Members) enough(s *membersState) bool {
	old, to := 0, 0
	for j, n := range s.nodes {
		marked := n.standing == changing && n.set == newSet
		switch {
		case marked && j < m.Old:
			old++
		case !marked && j >= m.Old && j < m.New:
			return false
		}
		if marked && j < m.New {
			to++
		}
	}
	return m.Rules.OldQuorumLeft || old >= m.Old-m.Old/2 && to > m.New/2
}

// quarantine is as long as any lock of either configuration may live.
func (m *Members) quarantine() uint8 {
	switch {
	case m.Rules.NoQuarantine:
		return 0
	case m.Rules.NewLengthOnly:
		return m.ttl(1)
	}
	return max(m.ttl(0), m.ttl(1))
}

func (m *Members) tick(s membersState) membersState {
	for c := range s.clients {
		at := &s.clients[c]
		switch at.phase {
		case attempt.Asking:
			if at.age++; at.age >= m.ttl(c) {
				m.end(&s, c)
			}
		case attempt.Held:
			if at.left--; at.left == 0 {
				m.end(&s, c)
			}
		}
	}
	if s.round > 0 {
		s.round = min(s.round+1, m.ttl(0)+1)
	}
	for j := range s.nodes {
		n := &s.nodes[j]
		n.left = max(n.left, 1) - 1
		if n.ttl = max(n.ttl, 1) - 1; n.ttl == 0 {
			n.holder = 0
		}
	}
	return s
}
