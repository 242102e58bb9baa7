package nodes

import (
	"github.com/lockscope/lockscope/lock/proof/spec/internal/attempt"
	"github.com/lockscope/lockscope/lock/proof/spec/internal/explore"
)

// Steps implements [explore.Model].
func (m *Guard) Steps(s guardState, each func(explore.Step, guardState)) {
	for c := range s.clients {
		m.clientSteps(s, c, each)
		for j := range s.nodes {
			m.ask(s, c, j, each)
		}
	}
	for j := range s.nodes {
		m.faultSteps(s, j, each)
	}
	m.vouchSteps(s, each)
	each(explore.Step{Text: "a tick passes"}, m.tick(s))
}

func (m *Guard) clientSteps(s guardState, c int, each func(explore.Step, guardState)) {
	switch at := &s.clients[c]; at.phase {
	case attempt.Idle:
		at.phase = attempt.Asking
		each(explore.Step{Text: "{c} begins an attempt", Client: c}, s)
	case attempt.Asking:
		granted := 0
		for j := range s.nodes {
			if s.nodes[j].granted[c] {
				granted++
			}
		}
		if granted >= guardQuorum {
			left := uint8(m.TTL) - at.age
			m.end(&s, c)
			s.clients[c] = guardClient{phase: attempt.Held, left: left}
			each(explore.Step{Text: "{c} has a quorum: its lease is valid", Client: c}, s)
		}
	}
}

// end forgets what an attempt was granted, when that is of no interest any more.
func (m *Guard) end(s *guardState, c int) {
	s.clients[c] = guardClient{phase: attempt.Over}
	for j := range s.nodes {
		s.nodes[j].granted[c] = false
	}
}

// ask is a client's acquire: where the node does not vote, its quarantine is begun,
// counted, or ended.
func (m *Guard) ask(s guardState, c, j int, each func(explore.Step, guardState)) {
	n := &s.nodes[j]
	do := func(text string) { each(explore.Step{Text: text, Client: c, Node: j}, s) }
	if m.mayVote(n) {
		if s.clients[c].phase == attempt.Asking && n.holder == 0 {
			n.holder, n.ttl, n.used, n.granted[c] = uint8(c+1), uint8(m.TTL), true, true
			s.used = s.used || m.Vouches > 0
			do("{n} grants {c}")
		}
		return
	}
	mark := &n.marker
	switch {
	case m.Rules.VouchStays && mark.state == noMarker, m.Rules.NoQuarantine:
		*mark = n.ownMarker(voting)
		do("{n} gets a marker from {c}, and may vote")
	case mark.state != quarantined || !m.isOwn(n):
		m.beginQuarantine(n, c)
		do("{n} begins its quarantine, asked by {c}")
	case !mark.counted:
		m.count(n, c)
		do("{n} counts its quarantine, asked by {c} who has read its identity")
	default:
		m.askQuarantine(n, c, do)
	}
}

// mayVote is how acquire.lua begins.
func (m *Guard) mayVote(n *guardNode) bool {
	switch {
	case n.marker.state != voting:
		return false
	case m.Rules.NoRunID:
		return true
	case m.Rules.PoolSight:
		return n.marker.process != foreign // another connection saw a process of this node before
	}
	return m.isOwn(n)
}

func (m *Guard) beginQuarantine(n *guardNode, c int) {
	n.marker = n.ownMarker(quarantined)
	n.marker.identity = n.quarantines
	n.quarantines = min(n.quarantines+1, vouchIdentity-1)
	if m.Rules.OldStamp {
		m.count(n, c)
		n.marker.byCallers = uint8(m.TTL)
	}
}

// count begins to count: the caller's clock was read after the quarantine began, for the
// caller has read its identity.
func (m *Guard) count(n *guardNode, c int) {
	n.marker.counted, n.marker.byNode, n.marker.byCallers, n.marker.beganBy = true, 0, 0, uint8(c)
	n.marker.capped = m.Rules.CallerClockCapped && n.slow
}

// askQuarantine ends a quarantine that both clocks have counted. A clock that is behind
// its start is another's: both begin anew.
func (m *Guard) askQuarantine(n *guardNode, c int, do func(string)) {
	mark, length := &n.marker, uint8(m.TTL)
	if m.Rules.ShortQuarantine {
		length--
	}
	byCallers := mark.byCallers
	if m.Ahead && int(mark.beganBy) != c {
		if byCallers = length; c == 0 {
			m.count(n, c)
			do("{n} counts its quarantine anew: the clock of {c} is behind its start")
			return
		}
	}
	node := mark.byNode >= length || m.Rules.CallerClockAlone
	callers := byCallers >= length || m.Rules.NodeClockAlone
	if node && callers {
		n.marker = n.ownMarker(voting)
		do("{n} ends its quarantine, asked by {c}")
	}
}

func (m *Guard) tick(s guardState) guardState {
	for c := range s.clients {
		switch at := &s.clients[c]; at.phase {
		case attempt.Asking:
			if at.age++; int(at.age) >= m.TTL {
				m.end(&s, c)
			}
		case attempt.Held:
			if at.left--; at.left == 0 {
				m.end(&s, c)
			}
		}
	}
	for j := range s.nodes {
		n := &s.nodes[j]
		n.data.tick()
		n.saved.tick()
		if n.marker.counted {
			n.marker.byNode = min(n.marker.byNode+1, uint8(m.TTL))
			n.marker.byCallers = min(n.marker.byCallers+1, uint8(m.TTL))
		}
	}
	return s
}

func (d *data) tick() {
	if d.ttl = max(d.ttl, 1) - 1; d.ttl == 0 {
		d.holder = 0
	}
}
