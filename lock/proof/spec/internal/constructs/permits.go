package constructs

import (
	"cmp"
	"slices"

	"github.com/lockscope/lockscope/lock/proof/spec/internal/attempt"
)

// Permits is the model of the permits of a semaphore, and of k: each slot is a mutex, each node
// keeps k and refuses callers with another, and an act changes k. Three nodes, two slots; time
// in ticks, at one rate. What one slot promises is the matter of locks.Votes and locks.Fences: here a
// call and its answer are one step, and a release reaches all nodes at once.
type Permits struct {
	Callers string // the k of each client, one digit a client: at most 4
	Old     int    // the k that stands on the nodes when it begins
	New     int    // the k to which an act changes it; 0: there is no act
	TTL     int
	Renewed bool // permits are renewed
	Idle    bool // a node forgets k when nobody has asked or renewed there for a TTL
	Wipes   int  // nodes that lose all, with k, and are silent for a TTL

	Rules PermitsRules
}

// PermitsRules switch off what the algorithm goes by. The zero value has all rules on.
type PermitsRules struct {
	CountPerNode      bool // a node counts permits, of whatever slot, up to k
	KUnchecked        bool // a node does not compare k
	ExtendsUnchecked  bool // it extends slots that it has not
	ForgottenEarly    bool // a node forgets k when nobody has asked there for a TTL, although permits are renewed
	MajorityIsEnough  bool // an act has changed k when a quorum of the nodes has the new, not all
	ShrunkWithoutWait bool // the smaller bound is believed as soon as the nodes have it
	NoQuarantine      bool // a node that has forgotten votes at once
}

const (
	permitsNodes   = 3
	permitsClients = 4
	permitsSlots   = 2
)

type permitsNode struct {
	k      uint8               // 0: it knows none
	known  uint8               // ticks until it forgets k, if it forgets
	silent uint8               // ticks until its quarantine is over
	holder [permitsSlots]uint8 // 1 + client
	ttl    [permitsSlots]uint8
	grants uint8 // a bit for each client that asks, and knows of its grant
}

type permitsClient struct {
	phase attempt.Phase
	slot  uint8
	left  uint8 // ticks of validity, from before the first request
}

type permitsState struct {
	nodes   [permitsNodes]permitsNode
	clients [permitsClients]permitsClient
	act     permitsAct
	wait    uint8 // ticks that the act waits for, still
	wiped   uint8
}

type permitsAct uint8

const (
	notBegun permitsAct = iota
	marking
	waitingOut // all nodes have the smaller k
	changed
)

// Start implements [explore.Model].
func (m *Permits) Start() (s permitsState) {
	for j := range s.nodes {
		s.nodes[j].learn(m, uint8(m.Old))
	}
	return s
}

// Violation implements [explore.Model].
func (m *Permits) Violation(s permitsState) string {
	var valid [permitsSlots]int
	for _, at := range s.clients {
		if at.phase == attempt.Held {
			valid[at.slot]++
		}
	}
	if valid[0]+valid[1] > m.bound(&s) {
		return "more permits are valid than there are slots"
	}
	if max(valid[0], valid[1]) > 1 && !m.Rules.CountPerNode {
		return "two permits of one slot are valid"
	}
	return ""
}

// bound is how many permits may be valid: the larger k while it is changed. Where k is forgotten and taken anew, it is
// what every holder believes.
func (m *Permits) bound(s *permitsState) int {
	if m.Idle {
		least := permitsClients
		for c := range m.Callers {
			if s.clients[c].phase == attempt.Held {
				least = min(least, int(m.k(c)))
			}
		}
		return least
	}
	switch s.act {
	case notBegun:
		return m.Old
	case changed:
		return m.New
	}
	return max(m.Old, m.New)
}

// k is what a client believes.
func (m *Permits) k(c int) uint8 { return m.Callers[c] - '0' }

// Canonical implements [explore.Model]: nodes that swap their names make the same state.
func (m *Permits) Canonical(s permitsState) permitsState {
	slices.SortFunc(s.nodes[:], func(x, y permitsNode) int { return cmp.Compare(x.key(), y.key()) })
	return s
}

func (n *permitsNode) key() (k uint64) {
	for slot := range n.holder {
		k = k<<8 | uint64(n.holder[slot])<<4 | uint64(n.ttl[slot])
	}
	return k<<24 | uint64(n.known)<<16 | uint64(n.grants)<<8 | uint64(n.k)<<4 | uint64(n.silent)
}

// learn makes a node know k, for a TTL at least.
func (n *permitsNode) learn(m *Permits, k uint8) {
	n.k = k
	if m.Idle {
		n.known = uint8(m.TTL)
	}
}
