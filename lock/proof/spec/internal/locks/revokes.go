package locks

import (
	"cmp"
	"slices"

	"github.com/lockscope/lockscope/lock/proof/spec/internal/attempt"
	"github.com/lockscope/lockscope/lock/proof/spec/internal/explore"
)

// Revokes is the model of revoking a lease: an operator asks who holds the lock, marks that token
// on the nodes, and says when the lock is free at the latest. Meanwhile the lease is renewed, handed
// over, released, or its holder crashes. Three nodes; time in ticks. Extends and marks are carried
// out node by node, and extends also late; a release reaches all nodes at once, as what is late there
// is the matter of [Votes]. A holder that learns of the mark goes on until its timer ends the lease.
type Revokes struct {
	Clients  int  // each makes one attempt: at most 3
	TTL      int  // ticks for which a node keeps a key
	LagEvery int  // the clock of client 1 misses one tick of so many, at most; 0: it is never behind
	Rounds   int  // of renewal, of each lease
	Acts     int  // revokes: at most 2
	Lost     int  // answers to extends and marks that get lost
	Crashes  int  // of holders
	HandOver bool // a lease may be handed over inside the process
	Wipes    int  // nodes that lose all
	Restores int  // nodes that go on from a snapshot that was made before they were marked

	Rules RevokesRules
}

// RevokesRules switch off what the algorithm goes by. The zero value has all rules on.
type RevokesRules struct {
	DeletesKey        bool // an act deletes the key
	MarkWithKey       bool // a mark is part of the key: without a key there is none
	RefillIgnoresMark bool // a lost key is put back in spite of a mark
	LateGrant         bool // a late acquire of a marked token is granted
	MarkOnMinority    bool // one marked node is enough
	ForgottenCounts   bool // a node in quarantine counts among the marked
	OneMark           bool // the mark of one token replaces that of another
	ShortMark         bool // a mark expires before the lease that it ends
	MarkOfLease       bool // a mark is for the lease, not for its token
	PromiseByRead     bool // the promise counts from the TTLs that the act read before it marked
}

const (
	revokesNodes   = 3
	revokesClients = 3
	revokesActs    = 2
	revokesQuorum  = revokesNodes/2 + 1
	revokesDrift   = 1 // ticks of each TTL that are not used
	revokesAct     = 1 // ticks that an act may take for its marks
)

// revokePhase is how far an act has come.
type revokePhase uint8

const (
	revokeIdle revokePhase = iota
	revokeMarks
	revokeDone
	revokeFailed
)

// revokesNode is a node: what it stores, and what is under way to it.
type revokesNode struct {
	holder  uint8                 // 1 + token; 0 if the lock is free
	ttl     uint8                 // of the key
	silent  uint8                 // ticks until its quarantine is over
	marks   [revokesClients]uint8 // ticks until the mark of a token expires
	forNext uint8                 // a bit for each token whose mark is for the lease after a hand-over; see MarkOfLease
	buried  uint8                 // a bit for each token with a tombstone
	granted uint8                 // a bit for each client that was granted
	late    uint8                 // a bit for each client whose extend was given up, and may still be carried out
	extends [revokesClients]attempt.Extend
	replies [revokesActs]uint8 // 1 + TTL that the node replied to the mark of an act
	asked   uint8              // a bit for each act that has marked the node
}

type revokesClient struct {
	phase  attempt.Phase
	age    uint8 // ticks since before its first request
	left   uint8 // of validity, by its own clock
	steady uint8 // ticks since its clock missed one
	round  uint8 // of renewal: 1 + ticks since it began; 0 if none is under way
	rounds uint8 // begun so far
	handed bool  // it is the lease after a hand-over
}

type revokesAction struct {
	phase  revokePhase
	target uint8 // 1 + token
	handed bool  // what it read of that lease
	read   uint8 // when a quorum would be free, as it was read
	age    uint8 // ticks since it began to mark
	free   uint8 // ticks until the lock is free at the latest, as it was promised
}

type revokesState struct {
	nodes                          [revokesNodes]revokesNode
	clients                        [revokesClients]revokesClient
	acts                           [revokesActs]revokesAction
	lost, crashed, wiped, restored uint8
}

// Start implements [explore.Model].
func (m *Revokes) Start() (s revokesState) {
	for c := range s.clients {
		s.clients[c].steady = uint8(m.LagEvery)
	}
	return s
}

// keep is how long a mark stands: an act takes at most a tick, and no lease lives longer than the TTL
// after its last round began.
func (m *Revokes) keep() uint8 {
	if m.Rules.ShortMark {
		return 1
	}
	return uint8(2 * m.TTL)
}

func (m *Revokes) validity(age uint8) int { return m.TTL - int(age) - revokesDrift }

// Violation implements [explore.Model].
func (m *Revokes) Violation(s revokesState) string {
	valid := 0
	for c := range s.clients {
		if s.clients[c].phase == attempt.Held {
			valid++
		}
	}
	if valid > 1 {
		return "two leases are valid"
	}
	for i := range s.acts {
		a := &s.acts[i]
		switch {
		case a.phase != revokeDone || a.free > 0:
		case s.clients[a.target-1].phase == attempt.Held:
			return "a revoked lease is valid after the promised time"
		case m.Wipes == 0 && s.having(a.target) > revokesNodes-revokesQuorum:
			// A node that was wiped may take a late extend, once its quarantine is over.
			return "the lock is not free at the promised time"
		}
	}
	return ""
}

// having is how many nodes have the key of a token.
func (s *revokesState) having(token uint8) (n int) {
	for j := range s.nodes {
		n += int(explore.Bit(s.nodes[j].holder == token))
	}
	return n
}

// Canonical implements [explore.Model]: nodes that swap their names make the same state.
func (m *Revokes) Canonical(s revokesState) revokesState {
	slices.SortFunc(s.nodes[:], compareRevokesNodes)
	return s
}

func compareRevokesNodes(x, y revokesNode) int {
	return cmp.Or(cmp.Compare(x.key(), y.key()), slices.Compare(x.marks[:], y.marks[:]),
		slices.Compare(x.extends[:], y.extends[:]), slices.Compare(x.replies[:], y.replies[:]))
}

func (n *revokesNode) key() (k uint64) {
	for _, part := range []uint8{n.holder, n.ttl, n.silent, n.forNext, n.buried, n.granted, n.late, n.asked} {
		k = k<<8 | uint64(part)
	}
	return k
}
