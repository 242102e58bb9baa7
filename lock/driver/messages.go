package driver

import (
	"sync"
	"time"
)

// TokenLength is the length of an owner token: as many lower-case hexadecimal digits.
const TokenLength = 32

// AcquireRequest asks a node for a lock.
type AcquireRequest struct {
	Key    string // the resource below its prefix
	Token  string // tells this attempt from all others; a secret
	Holder string // holder record to store
	TTL    time.Duration
	Floor  uint64 // the counter becomes at least this
	Waiter Waiter
	Fair   bool          // refuse while anybody else is in front
	Window time.Duration // how long the lock is kept for a waiter that is named
	Run    uint64        // how many fences to reserve, from the counter of the reply on; 0 is 1

	Shared *Shared // by the requests of one round; may be nil
}

// Shared keeps the arguments that a driver builds of a request which all nodes of a round
// get alike. It is safe for concurrent use; a nil one keeps nothing.
type Shared struct {
	mu   sync.Mutex
	args []any
}

// Args are what build returned the first time. They must not change any more.
func (s *Shared) Args(build func() []any) []any {
	if s == nil {
		return build()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.args == nil {
		s.args = build()
	}
	return s.args
}

// Waiter is an entry in a node's queue for a key.
type Waiter struct {
	ID      string // "" for a caller that does not wait
	Enqueue bool   // join the queue if refused
	Ticket  int64  // position to rejoin at; 0 for the end of the queue
	Record  string // what an acquire that queues says of itself, for others to read; "" leaves what there is
}

// AcquireReply is a node's vote.
type AcquireReply struct {
	Granted  bool
	Counter  uint64        // fence counter of the grant; 0 if the driver has none
	Run      uint64        // how many fences the grant reserves from Counter on: 1, or as many as were asked for
	Reserved bool          // refused because the lock is kept for the next waiter
	TTL      time.Duration // refused: what is left of the lock; negative if it never expires
	Holder   string        // refused: holder record, "" if unknown
	Ticket   int64         // refused: the caller's position, 0 if it does not queue
	Ahead    int           // refused: waiters in front

	// Restart is set in one reply, also beside an error, for every restart of the
	// server that the node has noticed. The engine tells the traces.
	Restart *Restart
}

// Restart says that a node may have forgotten locks: another server process answers for
// it than before, or one that is so young that locks may have been valid when it began,
// or the same process has dropped keys for want of memory.
type Restart struct {
	Witnessed bool          // another process had answered before; else this one was young when it was first met
	Left      time.Duration // how long locks it may have forgotten can still be valid
	Enforced  bool          // the node does not vote until then; if not, it votes, and two leases can be valid
	Evicted   bool          // it did not restart: it has dropped keys
}

// RaiseRequest lifts a fence counter.
type RaiseRequest struct {
	Key     string
	Token   string
	Counter uint64 // of the grant
	Fence   uint64
}

// ExtendRequest prolongs a lock.
type ExtendRequest struct {
	Key    string
	Token  string
	TTL    time.Duration
	Refill bool // put the key back where it was lost
	Fence  uint64
	Holder string // holder record, for a refill
	Rename bool   // write Holder also where the lock is: another caller of this process has it now

	Shared *Shared
}

// ExtendReply is a node's answer to Extend.
type ExtendReply int

// The answers to Extend.
const (
	ExtendGone     ExtendReply = iota // the key is not there
	ExtendDone                        // prolonged
	ExtendRefilled                    // was not there and is again: no vote
	ExtendTaken                       // somebody else's
)

// ReleaseRequest gives a lock back.
type ReleaseRequest struct {
	Key       string
	Token     string
	Tombstone time.Duration // > 0: an acquire of Token may still arrive and must not take effect
	Handoff   time.Duration // > 0: name the next waiter and keep the lock for it this long
	Waiter    Waiter        // rejoins the queue if its ID is set

	Shared *Shared // nil where this one differs from the others
}

// ReleaseReply is a node's answer to Release.
type ReleaseReply struct {
	Found ReleaseFound
	Named bool // a waiter was told that it is next
}

// ReleaseFound is what a release found under the key.
type ReleaseFound int

// What a release may find.
const (
	FoundNothing ReleaseFound = iota // the key was gone
	FoundOwn                         // the token held it; it is released
	FoundOther                       // somebody else holds it
)

// LeaveRequest gives up a position in the queue.
type LeaveRequest struct {
	Key      string
	WaiterID string
	Handoff  time.Duration
}
