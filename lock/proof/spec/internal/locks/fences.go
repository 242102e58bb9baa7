package locks

import (
	"cmp"
	"slices"
)

// Fences is the model of fencing tokens: counters on three nodes, the largest of the
// grants, the agreement of a quorum, runs and what is handed over from them. There is no
// time in it, and so any key may vanish at any moment. Only where nodes lose their
// counters, a clock counts: what a node that was emptied goes on from.
type Fences struct {
	Attempts int  // at most 4
	InTurn   bool // an attempt begins when the one before has ended, and all of that is over
	Run      int  // fences that a grant reserves
	HandOver bool // leases are handed over inside their process
	Lost     int  // answers to acquire that get lost
	Twice    int  // acquires that are carried out twice
	Refills  int  // keys that are put back

	Wipes int // nodes that are emptied, and then silent for Quiet ticks
	Quiet int
	Clock int // what clocks show at the start, in fences; 0 if there is no clock
	Late  int // by so much the clock of the last client is behind

	RealTime bool // ask for more than is promised: no fence is handed out after a larger one

	Rules FencesRules
}

// FencesRules switch off what the agreement on a fence goes by. The zero value has all
// rules on.
type FencesRules struct {
	NotRaised       bool // the largest counter is not written back
	RaisedAnywhere  bool // a counter is raised even if another attempt has the key
	RaisedByToken   bool // a counter is raised for any grant of the token, not for the one that counted
	RunNotCounted   bool // a quorum agrees on the fence alone, and the whole run is handed out
	RunAheadOfClock bool // grants reserve runs however far the counter is ahead of the clock
	FloorNotBounded bool // a node believes a client's clock that is behind its own
}

const (
	fenceNodes    = 3
	fenceAttempts = 4
	fenceQuorum   = fenceNodes/2 + 1
	fenceSlack    = 1 // how far a counter may be ahead of the clock and still reserve a run
	fenceSkew     = 1 // how far a client's clock may be from a node's and still be believed
)

// fencePhase is how far an attempt has come.
type fencePhase uint8

const (
	fenceIdle fencePhase = iota
	fenceAsking
	fenceRaising
	fenceWon
	fenceFailed
)

type fencesState struct {
	attempts                  [fenceAttempts]fenceAttempt
	nodes                     [fenceNodes]fenceNode
	now                       uint8
	lost, twice, filled, wipe uint8
	disorder                  bool // a fence was handed out after a larger one
}

type fenceAttempt struct {
	phase  fencePhase
	after  uint8 // the largest fence that was handed out when it began
	fence  uint8
	target uint8 // to which counters are raised
	end    uint8 // of the run
	handed uint8 // the last fence of the run that was handed out
}

// fenceNode is a node: its counter, whose key it has, and what is under way to it.
type fenceNode struct {
	counter uint8
	holder  uint8 // 1 + attempt
	grant   uint8 // the counter of the holder's grant
	silent  uint8 // ticks until its quarantine is over
	calls   [fenceAttempts]fenceCalls
}

// fenceCalls are the calls of one attempt to one node.
type fenceCalls struct {
	asked       bool // an acquire is under way
	raising     bool // a raise is under way
	raised      bool // and was answered
	first, last uint8
}

// Start implements [explore.Model].
func (m *Fences) Start() fencesState { return fencesState{now: uint8(m.Clock)} }

// Violation implements [explore.Model].
func (m *Fences) Violation(s fencesState) string {
	for a, x := range s.attempts {
		if x.phase != fenceWon {
			continue
		}
		if x.fence <= x.after {
			return "a fence is not larger than those handed out before"
		}
		for _, y := range s.attempts[a+1:] {
			if y.phase == fenceWon && x.fence <= y.handed && y.fence <= x.handed {
				return "two leases have the same fence"
			}
		}
	}
	if m.RealTime && s.disorder {
		return "a fence is handed out after a larger one"
	}
	return ""
}

// Canonical implements [explore.Model]: nodes that swap their names make the same state.
func (m *Fences) Canonical(s fencesState) fencesState {
	slices.SortFunc(s.nodes[:], func(x, y fenceNode) int {
		if c := cmp.Compare(x.key(), y.key()); c != 0 {
			return c
		}
		for a := range x.calls {
			if c := cmp.Compare(x.calls[a].key(), y.calls[a].key()); c != 0 {
				return c
			}
		}
		return 0
	})
	return s
}

func (n *fenceNode) key() uint32 {
	return uint32(n.counter) | uint32(n.holder)<<8 | uint32(n.grant)<<16 | uint32(n.silent)<<24
}

func (c fenceCalls) key() uint32 {
	k := uint32(c.first) | uint32(c.last)<<8
	for i, flag := range [...]bool{c.asked, c.raising, c.raised} {
		if flag {
			k |= 1 << (16 + i)
		}
	}
	return k
}
