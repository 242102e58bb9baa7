package locks

import (
	"cmp"
	"slices"

	"github.com/lockscope/lockscope/lock/proof/spec/internal/attempt"
)

// Votes is the model of attempts and leases: messages that are late or lost, keys that
// expire, clocks that run at different rates, renewal with refill, release with
// tombstones, nodes that forget and keep silent. Three nodes; time in ticks.
//
// A step of a node carries a call out and answers it at once: that an answer takes time is
// the client's not acting on it before time has passed.
type Votes struct {
	Attempts int  // each of a client of its own: at most 3
	TTL      int  // ticks for which a node keeps a key
	LagEvery int  // the clock of client 1 misses one tick of so many, at most; 0: it is never behind
	Rounds   int  // of renewal of client 1's lease
	Releases bool // client 1 may end its lease early
	MinHold  int  // ticks for which client 1's lock is kept, from its grant on, also if its lease ends before
	Patient  bool // no attempt is given up while it could still be won
	Lost     int  // answers that get lost
	Wipes    int  // nodes that lose all their keys
	Restores int  // snapshots of a node that are brought back

	Rules VotesRules
}

// VotesRules switch off what the algorithm goes by. The zero value has all rules on.
type VotesRules struct {
	QuorumOffByOne         bool // one node less decides
	DriftIgnored           bool // validity is the whole TTL
	CountedLate            bool // validity counts from the decision, not from before the first request
	LossLate               bool // the timer that ends a lease goes off a tick late
	TokenReused            bool // client 1 makes its second attempt with the token of the first
	ReleaseWithoutToken    bool // a release deletes whatever lock is there
	NoTombstone            bool // a release buries nothing
	RefillVotes            bool // a key that was put back counts for the round that did it
	RefillIgnoresTombstone bool // an extend puts back what was released
	RefillInQuarantine     bool // a node that has forgotten takes a key back
	ProlongRevives         bool // a round that succeeds brings a lease back that has ended
	HandOverAfterRelease   bool // a lease is handed over after its release was sent
	ResentAfterNoScript    bool // an acquire that was answered "not executed" is sent again behind its release
	NoQuarantine           bool // a node that was wiped votes at once
	ShortQuarantine        bool // its quarantine is a tick too short
	KeptIsRenewed          bool // a renewal that comes late sets the TTL of a lock that is kept for its minimum hold
	KeptWithoutDrift       bool // a node keeps the lock for what is left of the minimum hold by the client's clock
}

const (
	votesNodes    = 3
	votesAttempts = 3
	votesDrift    = 1 // ticks of each TTL that are not used
)

type votesState struct {
	attempts              [votesAttempts]votesAttempt
	nodes                 [votesNodes]votesNode
	lost, wiped, restored uint8
}

// votesAttempt is one attempt, and the lease it may become.
type votesAttempt struct {
	phase  attempt.Phase
	age    uint8 // ticks since before its first request, by its own clock
	left   uint8 // of validity, by its own clock
	steady uint8 // ticks since its clock missed one
	round  uint8 // of renewal: 1 + ticks since it began; 0 if none is under way
	rounds uint8 // begun so far
	keep   uint8 // ticks left of the minimum hold, by its own clock
	kept   uint8 // nodes that keep the lock for it
}

// votesNode is a node: what it stores, and what is under way to it.
type votesNode struct {
	holder   uint8 // 1 + token; 0 if the lock is free
	ttl      uint8
	silent   uint8 // ticks until its quarantine is over
	saved    uint8 // the holder in a snapshot, as holder
	savedTTL uint8
	calls    [votesAttempts]votesCalls
}

// votesCalls are the calls of one attempt to one node.
type votesCalls struct {
	acquire    attempt.Acquire
	extend     attempt.Extend
	release    attempt.Release
	lateExtend bool // an extend was given up, and may still be carried out
	mayArrive  bool // a call was not answered: a release leaves a tombstone
}

// settle forgets what can have no effect any more, so that fewer states differ.
func (n *votesNode) settle(m *Votes, a int) {
	if c := &n.calls[a]; c.release >= attempt.Undone && c.acquire != attempt.Late && !c.lateExtend && !n.isBack(m, a) {
		*c = votesCalls{}
	}
}

// isBack reports that the node holds for an attempt again what was given back.
func (n *votesNode) isBack(m *Votes, a int) bool {
	r := n.calls[a].release
	return (r == attempt.Undone || r == attempt.Buried) && n.holder == m.token(a)+1
}

// Start implements [explore.Model].
func (m *Votes) Start() votesState {
	var s votesState
	for a := range s.attempts {
		s.attempts[a].steady = uint8(m.LagEvery)
	}
	return s
}

func (m *Votes) quorum() int {
	if m.Rules.QuorumOffByOne {
		return votesNodes / 2
	}
	return votesNodes/2 + 1
}

func (m *Votes) drift() int {
	if m.Rules.DriftIgnored {
		return 0
	}
	return votesDrift
}

// quarantine is how long a node keeps silent that has forgotten.
func (m *Votes) quarantine() uint8 {
	switch {
	case m.Rules.NoQuarantine:
		return 0
	case m.Rules.ShortQuarantine:
		return uint8(m.TTL - 1)
	}
	return uint8(m.TTL)
}

// token is the same for two attempts only where that is the flaw.
func (m *Votes) token(a int) uint8 {
	if m.Rules.TokenReused && a == 1 {
		return 0
	}
	return uint8(a)
}

// Violation implements [explore.Model].
func (m *Votes) Violation(s votesState) string {
	valid := 0
	for a := range s.attempts {
		if s.attempts[a].phase == attempt.Held {
			valid++
		}
	}
	if valid > 1 {
		return "two leases are valid"
	}
	if first := s.attempts[0]; valid > 0 && first.phase == attempt.Over && first.keep > 0 && int(first.kept) >= m.quorum() {
		return "a lease is valid within the minimum hold of another"
	}
	for j := range s.nodes {
		n := &s.nodes[j]
		for a := range n.calls {
			if n.isBack(m, a) && !m.Rules.TokenReused {
				return "a lock is back that was given back"
			}
		}
	}
	return ""
}

// Canonical implements [explore.Model]: nodes that swap their names make the same state.
func (m *Votes) Canonical(s votesState) votesState {
	slices.SortFunc(s.nodes[:], compareVotesNodes)
	return s
}

func compareVotesNodes(x, y votesNode) int {
	if c := cmp.Compare(x.key(), y.key()); c != 0 {
		return c
	}
	for a := range x.calls {
		if c := cmp.Compare(x.calls[a].key(), y.calls[a].key()); c != 0 {
			return c
		}
	}
	return 0
}

func (n *votesNode) key() uint64 {
	return uint64(n.holder) | uint64(n.ttl)<<8 | uint64(n.silent)<<16 | uint64(n.saved)<<24 | uint64(n.savedTTL)<<32
}

func (c votesCalls) key() (k uint32) {
	k = uint32(c.acquire) | uint32(c.extend)<<4 | uint32(c.release)<<8
	if c.lateExtend {
		k |= 1 << 12
	}
	if c.mayArrive {
		k |= 1 << 13
	}
	return k
}
