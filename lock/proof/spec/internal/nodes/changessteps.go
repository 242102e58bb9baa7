package nodes

import (
	"fmt"

	"github.com/lockscope/lockscope/lock/proof/spec/internal/explore"
)

// Steps implements [explore.Model]. An act may stop anywhere.
func (m *Changes) Steps(s changesState, each func(explore.Step, changesState)) {
	for a := range m.parsed.acts {
		do := func(text string, j int, to changesState) {
			each(explore.Step{Text: fmt.Sprintf("change %d ", a+1) + text, Node: j}, to)
		}
		switch s.acts[a].phase {
		case actIdle, actAsks:
			m.ask(s, a, do)
		case actMarks:
			m.mark(s, a, do)
		case actConfirms:
			m.confirm(s, a, do)
		case actBegins:
			m.begin(s, a, do)
		case actTakesBack:
			m.takeBack(s, a, do)
		}
	}
	if int(s.wiped) < m.Wipes {
		for j, n := range s.nodes {
			if n.configuration != 0 {
				to := s
				to.nodes[j], to.wiped = changesMarker{}, s.wiped+1
				each(explore.Step{Text: "{n} loses its marker", Node: j}, to)
			}
		}
	}
}

type changesStep func(text string, j int, to changesState)

// ask reads a marker, or finds its node away; after the last it decides what to do.
func (m *Changes) ask(s changesState, a int, do changesStep) {
	act := m.parsed.acts[a]
	if at := &s.acts[a]; at.phase == actIdle {
		*at = actState{phase: actAsks, pending: m.set(act.from) | m.set(act.to)}
	}
	for j := range changesNodes {
		if !s.acts[a].pending.has(j) {
			continue
		}
		to := s
		at := &to.acts[a]
		at.read[j] = s.nodes[j]
		at.pending &^= 1 << j
		m.decide(at, a)
		do("asks {n}", j, to)
		if s.acts[a].away.size() < m.Away {
			to = s
			at = &to.acts[a]
			at.away |= 1 << j
			at.pending &^= 1 << j
			m.decide(at, a)
			do("asks {n}, which is away", j, to)
		}
	}
}

func (m *Changes) decide(at *actState, a int) {
	if at.pending != 0 {
		return
	}
	act := m.parsed.acts[a]
	at.phase, at.pending = actMarks, (m.set(act.from)|m.set(act.to))&^at.away
	switch {
	case !m.standing(at, a):
		*at = actState{phase: actRefused}
	case m.hasMoved(at, a):
		at.joins = true
		for j := range changesNodes {
			if m.hasGone(at, a, j) {
				at.pending &^= 1 << j
			}
		}
		m.over(at, actDone)
	case act.from == act.to || !m.enough(at, a) || !m.remembered(at, a):
		*at = actState{phase: actRefused}
	}
}

// replaces reports that the act may replace this marker.
func (m *Changes) replaces(a int, marker changesMarker) bool {
	act := m.parsed.acts[a]
	c := marker.configuration
	if c == 0 || m.Rules.FromBelieved {
		return true
	}
	switch {
	case marker.by == 0 || m.Rules.AnyMark:
		return c == act.from || c == act.to || act.from == act.to
	case act.from == act.to:
		return c == act.to
	}
	// This very change is to be finished, or undone.
	return c == act.to && marker.from == act.from || c == act.from && marker.from == act.to
}

func (m *Changes) standing(at *actState, a int) bool {
	for j, marker := range at.read {
		if at.pending.has(j) && !m.replaces(a, marker) {
			return false
		}
	}
	return true
}

// hasMoved reports that a quorum of the new set has gone over, and that no old one is left.
func (m *Changes) hasMoved(at *actState, a int) bool {
	act := m.parsed.acts[a]
	return m.quorum(m.set(act.to), func(j int) bool { return m.settled(at, a, j) }) &&
		(act.from == act.to || m.quorum(m.set(act.from),
			func(j int) bool { return !at.away.has(j) && (at.mine.has(j) || at.read[j].configuration == act.to) }))
}

func (m *Changes) settled(at *actState, a, j int) bool {
	return !at.away.has(j) && !at.mine.has(j) && at.read[j] == changesMarker{configuration: m.parsed.acts[a].to}
}

func (m *Changes) hasGone(at *actState, a, j int) bool {
	act := m.parsed.acts[a]
	if m.set(act.to).has(j) {
		return m.settled(at, a, j)
	}
	return at.read[j] == changesMarker{configuration: act.to, left: true}
}

// enough is of the nodes that are there: a quorum of either set, and each that joins.
func (m *Changes) enough(at *actState, a int) bool {
	from, to := m.set(m.parsed.acts[a].from), m.set(m.parsed.acts[a].to)
	old, need := (from &^ at.away).size(), from.size()/2+1
	if m.Rules.HalfIsEnough {
		need = from.size() - from.size()/2
	}
	return old >= need && 2*(to&^at.away).size() > to.size() && to&^from&at.away == 0
}

func (m *Changes) remembered(at *actState, a int) bool {
	from := m.set(m.parsed.acts[a].from)
	known := m.count(from, func(j int) bool { return !at.away.has(j) && at.read[j].configuration != 0 })
	return 2*known > from.size() || known == 0 && from&at.away == 0 || m.Rules.WipedCounts || m.Rules.HalfIsEnough
}

// mark is the first round: the nodes of the old set, and then those that join, in the same order for every act.
func (m *Changes) mark(s changesState, a int, do changesStep) {
	from := m.set(m.parsed.acts[a].from)
	j := 0
	for at := s.acts[a]; !at.pending.has(j) || at.pending&from != 0 && !from.has(j); {
		if j++; j == changesNodes {
			return
		}
	}
	if int(s.lost) < m.Lost {
		lost := s
		lost.lost++
		lost.acts[a].away |= 1 << j
		m.endMark(&lost, a, j)
		do("does not reach {n}", j, lost)
		if m.mayMark(s.acts[a], a, j, s.nodes[j]) {
			lost.nodes[j] = m.markOf(a)
			do("marks {n}, and does not hear of it", j, lost)
		}
	}
	at := &s.acts[a]
	if !m.mayMark(s.acts[a], a, j, s.nodes[j]) {
		at.phase, at.pending = actTakesBack, at.mine
		m.over(at, actRefused)
		do("finds another marker on {n}", j, s)
		return
	}
	at.read[j], s.nodes[j] = s.nodes[j], m.markOf(a)
	at.mine |= 1 << j
	m.endMark(&s, a, j)
	do("marks {n}", j, s)
}

func (m *Changes) markOf(a int) changesMarker {
	return changesMarker{configuration: m.parsed.acts[a].to, by: uint8(a + 1), from: m.parsed.acts[a].from}
}

// mayMark is mark.lua, and what follows where the marker was changed since it was read.
func (m *Changes) mayMark(at actState, a, j int, is changesMarker) bool {
	vanished := at.read[j].configuration != 0 && is.configuration == 0 && !m.Rules.WipedCounts
	return m.Rules.MarkWithoutRead || m.replaces(a, is) && !vanished
}

// endMark goes on to the next node, or the next phase.
func (m *Changes) endMark(s *changesState, a, j int) {
	at := &s.acts[a]
	if at.pending &^= 1 << j; at.pending != 0 {
		return
	}
	at.phase, at.pending = actConfirms, at.mine
	if at.joins {
		at.pending = (m.set(m.parsed.acts[a].from) | m.set(m.parsed.acts[a].to)) &^ at.away
	}
	if at.pending == 0 || m.Rules.NotConfirmed && !at.joins || m.Rules.JoinUnconfirmed && at.joins {
		m.endConfirm(at, a)
	}
}

// confirm looks whether the marks are still there, now that all were made, and the nodes
// that others are to join where they were.
func (m *Changes) confirm(s changesState, a int, do changesStep) {
	for j := range changesNodes {
		if !s.acts[a].pending.has(j) {
			continue
		}
		to := s
		at := &to.acts[a]
		at.pending &^= 1 << j
		switch {
		case !at.mine.has(j):
			at.read[j] = to.nodes[j]
		case to.nodes[j] != m.markOf(a):
			at.mine &^= 1 << j
			at.away |= 1 << j
		}
		if at.pending == 0 {
			m.endConfirm(at, a)
		}
		do("looks at {n} once more", j, to)
	}
}

// endConfirm goes on to the second round.
func (m *Changes) endConfirm(at *actState, a int) {
	enough := m.enough
	if at.joins {
		enough = m.hasMoved
	}
	if !enough(at, a) {
		at.phase, at.pending = actTakesBack, at.mine
		m.over(at, actRefused)
		return
	}
	at.phase, at.pending = actBegins, at.mine
	m.over(at, actDone)
}

func (m *Changes) over(at *actState, phase actPhase) {
	if at.pending == 0 {
		if at.spoil {
			phase = actRefused
		}
		*at = actState{phase: phase} // what it knew is of no interest any more
	}
}

// begin is the second round, to any node first.
func (m *Changes) begin(s changesState, a int, do changesStep) {
	for j := range changesNodes {
		if !s.acts[a].pending.has(j) {
			continue
		}
		to := s
		at := &to.acts[a]
		at.pending &^= 1 << j
		if to.nodes[j] == m.markOf(a) || m.Rules.BeginBlind {
			to.nodes[j] = changesMarker{configuration: m.parsed.acts[a].to, left: !m.set(m.parsed.acts[a].to).has(j)}
		} else {
			at.spoil = true
		}
		m.over(at, actDone)
		do("lets {n} begin its quarantine, or go, if nothing has happened to it", j, to)
	}
}

// takeBack undoes what the first round has marked.
func (m *Changes) takeBack(s changesState, a int, do changesStep) {
	for j := range changesNodes {
		if !s.acts[a].pending.has(j) {
			continue
		}
		to := s
		at := &to.acts[a]
		at.pending &^= 1 << j
		if to.nodes[j] == m.markOf(a) || m.Rules.TakenBackBlind {
			to.nodes[j] = at.read[j]
		}
		m.over(at, actRefused)
		do("takes its mark on {n} back, if nothing has happened to it", j, to)
	}
}
