package constructs

import (
	"slices"

	"github.com/lockscope/lockscope/lock/proof/spec/internal/attempt"
	"github.com/lockscope/lockscope/lock/proof/spec/internal/explore"
)

// sharedPhase is how far an act has come.
type sharedPhase uint8

const (
	actIdle sharedPhase = iota
	actMarks
	actDone
	actFailed
)

// actTicks is how long an act may take for its marks.
const actTicks = 1

// sharedAct revokes all readers that some node has: it asks all nodes, marks the tokens of these readers node by node,
// and says when none of them keeps a writer out. How long a mark stands is the matter of locks.Revokes.
type sharedAct struct {
	phase   sharedPhase
	targets uint8 // a bit for each reader that it read
	read    uint8 // when a quorum would be free of them, as it was read
	age     uint8 // ticks since it began to mark
	free    uint8 // ticks until a quorum is free of them at the latest, as it was promised
}

// actSteps are what the act may do next.
func (m *Shared) actSteps(s sharedState, each func(explore.Step, sharedState)) {
	switch {
	case !m.Act:
	case s.act.phase == actIdle:
		for c := range m.Modes {
			for j := range s.nodes {
				s.act.targets |= uint8(explore.Bit(s.nodes[j].readers[c] > 0 && s.nodes[j].silent == 0)) << c
			}
		}
		if s.act.targets == 0 {
			return
		}
		s.act.phase, s.act.read = actMarks, s.freeOf(s.act.targets)
		each(explore.Step{Text: "the act reads who reads"}, s)
	case s.act.phase == actMarks:
		for j := range s.nodes {
			if !s.nodes[j].asked {
				to := s
				to.nodes[j].mark(s.act.targets)
				each(explore.Step{Text: "{n} is asked to mark these readers", Node: j}, to)
			}
		}
		m.promise(s, each)
	}
}

// mark is what a node does about an act. One that may not vote takes no mark. It replies how much time each reader
// has left.
func (n *sharedNode) mark(targets uint8) {
	n.asked = true
	if n.silent > 0 {
		return
	}
	n.marks |= targets
	n.replied = true
	for c := range n.readers {
		n.lasts[c] = n.readers[c] * (targets >> c & 1)
	}
}

// promise ends an act that has a quorum of replies.
func (m *Shared) promise(s sharedState, each func(explore.Step, sharedState)) {
	var lasts []uint8
	var of [sharedClients][]uint8
	for j := range s.nodes {
		n := &s.nodes[j]
		if !n.replied {
			continue
		}
		lasts = append(lasts, slices.Max(n.lasts[:]))
		for c := range of {
			of[c] = append(of[c], n.lasts[c])
		}
	}
	quorum := sharedNodes/2 + 1
	if m.Rules.MinorityMarked {
		quorum = 1
	}
	if len(lasts) < quorum {
		return
	}
	slices.Sort(lasts)
	s.act.free = lasts[quorum-1]
	if m.Rules.PromiseByReader {
		s.act.free = 0
		for c := range of {
			slices.Sort(of[c])
			s.act.free = max(s.act.free, of[c][quorum-1])
		}
	}
	if m.Rules.PromiseByRead {
		s.act.free = s.act.read
	}
	s.act.phase, s.act.age, s.act.read = actDone, 0, 0
	s.forgetReplies()
	each(explore.Step{Text: "the act says when these readers keep no writer out"}, s)
}

func (s *sharedState) forgetReplies() {
	for j := range s.nodes {
		s.nodes[j].lasts, s.nodes[j].replied = [sharedClients]uint8{}, false
	}
}

// freeOf is when a quorum of the nodes has none of these readers any more.
func (s *sharedState) freeOf(targets uint8) uint8 {
	var lasts []uint8
	for j := range s.nodes {
		last := uint8(0)
		for c, left := range s.nodes[j].readers {
			last = max(last, left*(targets>>c&1))
		}
		lasts = append(lasts, last)
	}
	slices.Sort(lasts)
	return lasts[sharedNodes/2]
}

func (s *sharedState) tickAct() {
	switch s.act.phase {
	case actMarks:
		if s.act.age++; s.act.age > actTicks {
			s.act = sharedAct{phase: actFailed}
			s.forgetReplies()
		}
	case actDone:
		s.act.free = max(s.act.free, 1) - 1
	}
}

// actViolation is what is wrong once the promised time has come.
func (m *Shared) actViolation(s *sharedState) string {
	if s.act.phase != actDone || s.act.free > 0 {
		return ""
	}
	for c := range m.Modes {
		if s.act.targets&(1<<c) != 0 && s.clients[c].phase == attempt.Held {
			return "a revoked reader is valid after the promised time"
		}
	}
	if m.Wipes == 0 && s.freeOf(s.act.targets) > 0 {
		return "revoked readers keep a writer out after the promised time"
	}
	return ""
}

// refusesMarked reports that a node refuses a call of a reader because it is marked.
func (n *sharedNode) refusesMarked(c int, off bool) bool { return n.marks&(1<<c) != 0 && !off }

// unmark lets the next attempt of a client have a token of its own.
func (s *sharedState) unmark(c int) {
	s.act.targets &^= 1 << c
	for j := range s.nodes {
		s.nodes[j].marks &^= 1 << c
	}
}
