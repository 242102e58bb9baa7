package constructs

import (
	"cmp"
	"slices"

	"github.com/lockscope/lockscope/lock/proof/spec/internal/attempt"
	"github.com/lockscope/lockscope/lock/proof/spec/internal/explore"
)

// Election is the model of terms: campaigns that are cancelled or lost and begin anew, renewal
// that hangs, resignations that are lost. Three nodes; time in ticks, at one rate. The order of
// candidates is that of [Waiters], taken as given: only the first in line asks the nodes.
type Election struct {
	Candidates int // at most 3
	TTL        int
	InTurn     bool // who is first in line asks alone: nobody overtakes while votes are counted
	Asks       int  // how often a candidate asks the nodes for one term, at most
	Again      int  // campaigns that a candidate may begin after its first
	Renewals   int  // rounds of renewal of all terms
	Cancels    int  // campaigns that are cancelled
	Lost       int  // releases that never reach their node
	Crashes    int
	Vacancy    int // if not 0: ticks for which nobody leads, at most, while somebody campaigns and calls arrive

	Rules ElectionRules
}

// ElectionRules switch off what the algorithm goes by. The zero value has all rules on.
type ElectionRules struct {
	EndsByAnswer   bool // a term ends only when an answer says so
	CancelIgnored  bool // a cancelled campaign that has its votes leads
	NoTombstone    bool // a cancelled campaign leaves nothing against calls that are late
	ResignForgets  bool // a resignation is sent once, and the lease is renewed although nobody leads
	AgainAtFront   bool // a candidate that lost its term keeps its place
	TermOfTheNode  bool // a term is the counter of the first node, and the others are not raised
	ResignIsNotEnd bool // the term goes on until the nodes have answered
}

const (
	electionNodes      = 3
	electionCandidates = 3
)

type electionNode struct {
	holder  uint8 // 1 + candidate
	ttl     uint8
	counter uint8
	calls   [electionCandidates]electionCall
}

// electionCall is what has become of a campaign on a node.
type electionCall struct {
	acquire attempt.Acquire
	release attempt.Release
	unknown bool // the acquire was not answered: the release leaves a tombstone
}

type stage uint8

const (
	outside stage = iota
	inLine
	campaigning
	leads
	resigning
	left // its campaign or its term is over
)

type candidate struct {
	stage     stage
	arrival   uint8 // when it joined the line
	ticket    uint8 // its place in line
	age       uint8 // ticks since before its first request
	left      uint8 // validity
	asks      uint8
	campaigns uint8
	cancelled bool
	overtaken bool // somebody who came later leads
}

type electionState struct {
	nodes      [electionNodes]electionNode
	candidates [electionCandidates]candidate
	newest     uint8 // term
	backwards  bool  // a term was not higher than one before
	vacant     uint8

	renewed, cancelled, lost, crashed uint8
}

// Start implements [explore.Model].
func (m *Election) Start() (s electionState) { return s }

// Violation implements [explore.Model].
func (m *Election) Violation(s electionState) string {
	leaders := 0
	for c := range s.candidates {
		at := &s.candidates[c]
		leaders += int(explore.Bit(m.isValid(at)))
		switch {
		case at.stage == leads && at.cancelled:
			return "a cancelled campaign leads"
		case at.overtaken:
			return "who came later leads first"
		}
		for j := range s.nodes {
			r := s.nodes[j].calls[c].release
			if int(s.nodes[j].holder) == c+1 && (r == attempt.Buried || r == attempt.Undone) {
				return "a vote is back that was given back"
			}
		}
	}
	switch {
	case leaders > 1:
		return "two terms are valid"
	case s.backwards:
		return "a term is not higher than those before"
	case m.Vacancy > 0 && int(s.vacant) > m.Vacancy:
		return "nobody leads although somebody campaigns"
	}
	return ""
}

// isValid reports that a candidate acts as leader.
func (m *Election) isValid(at *candidate) bool {
	return at.stage == leads || at.stage == resigning && m.Rules.ResignIsNotEnd
}

// Canonical implements [explore.Model]: nodes that swap their names make the same state, unless one of them is the
// first.
func (m *Election) Canonical(s electionState) electionState {
	if !m.Rules.TermOfTheNode {
		slices.SortFunc(s.nodes[:], func(x, y electionNode) int { return cmp.Compare(x.key(), y.key()) })
	}
	return s
}

func (n *electionNode) key() uint64 {
	k := uint64(n.holder)<<16 | uint64(n.ttl)<<8 | uint64(n.counter)
	for _, c := range n.calls {
		k = k<<8 | uint64(c.acquire)<<4 | uint64(c.release)<<1 | explore.Bit(c.unknown)
	}
	return k
}

// first is who is at the head of the line; -1 if nobody waits.
func (s *electionState) first() int {
	head := -1
	for c := range s.candidates {
		if s.candidates[c].stage == inLine && (head < 0 || s.candidates[c].ticket < s.candidates[head].ticket) {
			head = c
		}
	}
	return head
}

// queue gives a candidate the last place.
func (s *electionState) queue(c int) {
	last := uint8(0)
	for i := range s.candidates {
		last = max(last, s.candidates[i].arrival)
	}
	s.candidates[c].arrival, s.candidates[c].ticket = last+1, last+1
}
