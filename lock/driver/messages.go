package driver

import (
	"sync"
	"time"
)

// TokenLength is the length of an owner token, in lower-case hexadecimal digits.
const TokenLength = 32

// AcquireRequest asks a node for a lock.
type AcquireRequest struct {
	Key    string // prefix and resource
	Token  string // unique to this attempt; a secret
	Holder string // holder record to store
	TTL    time.Duration
	Floor  uint64 // minimum of the counter after the grant
	Waiter Waiter
	Fair   bool          // refuse while another waiter is in front
	Window time.Duration // how long the lock is reserved for a waiter that is named
	Run    uint64        // how many fences to reserve, starting at the reply's Counter; 0 is 1
	Mode   Mode
	// Bar is set by a writer that waits. If the node refuses it, readers that come later are refused for this long, or
	// until the waiter leaves. The bar has the request's ticket, or else the time at which it was set up.
	Bar time.Duration

	Semaphore *Semaphore // nil if the lock is not a slot

	Args *ArgsCache // of the round; may be nil
}

// ArgsCache has the arguments that a driver builds from a request, for the other nodes of a round that get the same. It
// is safe for concurrent use; a nil *ArgsCache caches nothing.
type ArgsCache struct {
	mu   sync.Mutex
	args []any
}

// Get returns what build returned the first time. Nobody may change it afterwards.
func (s *ArgsCache) Get(build func() []any) []any {
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
	Record  string // the waiter's record, for others to read; "" keeps the present one
}

// AcquireReply is a node's vote.
type AcquireReply struct {
	Granted  bool
	Counter  uint64        // fence counter of the grant; 0 if the driver has none
	Run      uint64        // how many fences the grant reserves, starting at Counter: 1, or the request's Run
	Reserved bool          // refused because the lock is reserved for the next waiter
	TTL      time.Duration // refused: TTL left of the lock; negative if it never expires
	Holder   string        // refused: holder record, "" if unknown
	Ticket   int64         // refused: the caller's position, 0 if it does not queue
	Ahead    int           // refused: waiters in front
	Slots    int           // how many slots the node knows of; 0 if it compares none. See Capabilities.Slots
	// Free is set by a refusal of an acquire with Semaphore.Any: 1 + a slot that is kept for the caller now, or that is
	// free and that no waiter wants; 0 if there is none.
	Free int

	// Restart is set in exactly one reply, also beside an error, for every restart of the
	// server that the node detected. The engine reports it to the traces.
	Restart *Restart
	// ClockSkew is how far the server's clock is ahead of this process's, as it was last measured; 0 if unknown.
	ClockSkew time.Duration
}

// Restart means that a node may have forgotten locks; see locktrace.NodeRestart.
type Restart struct {
	Witnessed bool          // a different process answered before; false: this one was young when first seen
	Left      time.Duration // how long the forgotten locks can still be valid
	Enforced  bool          // true: the node does not vote until then; false: it votes, and two leases can be valid
	Evicted   bool          // the node did not restart, but evicted keys
}

// RaiseRequest lifts a fence counter.
type RaiseRequest struct {
	Key     string
	Token   string
	Counter uint64 // of the grant
	Fence   uint64
	Mode    Mode // of the grant
}

// ExtendRequest prolongs a lock.
type ExtendRequest struct {
	Key    string
	Token  string
	TTL    time.Duration
	Refill bool   // restore the key if it was lost
	Fence  uint64 // of the lease, for a refill
	Last   uint64 // of the lease's run of fences: a refill raises the counter to it; 0 stands for Fence
	Holder string // holder record, for a refill
	Rename bool   // write Holder into the existing lock too
	Mode   Mode   // of the lock

	// Final: the lease is over, and the lock is kept for TTL from now, which may be shorter than what is left, also when
	// this process is gone. Its record, which ends with "|done|", distinguishes it: an extend of the token with another
	// record comes late, and must change nothing. Only a node with Capabilities.Keep gets this.
	Final bool

	Semaphore *Semaphore // nil if the lock is not a slot

	Args *ArgsCache
}

// ExtendReply is a node's answer to Extend.
type ExtendReply int

// The answers to Extend.
const (
	ExtendGone     ExtendReply = iota // the key does not exist
	ExtendDone                        // renewed
	ExtendRefilled                    // the key was lost and is restored: no vote
	ExtendTaken                       // another owner holds the lock
	ExtendNoSlot                      // the semaphore does not have this slot any more; see Capabilities.Slots
)

// ReleaseRequest gives a lock back.
type ReleaseRequest struct {
	Key       string
	Token     string
	Tombstone time.Duration // > 0: refuse an acquire of Token that arrives within this time
	Handoff   time.Duration // > 0: name the next waiter and reserve the lock for it this long
	Waiter    Waiter        // rejoins the queue if its ID is set
	Mode      Mode          // of the lock
	Semaphore *Semaphore    // whose slot it is; nil for other locks

	Args *ArgsCache // nil if this request differs from the other nodes'
}

// ReleaseReply is a node's answer to Release.
type ReleaseReply struct {
	Found ReleaseFound
	Named bool // the next waiter was notified
}

// ReleaseFound is what a release found under the key.
type ReleaseFound int

// What a release may find.
const (
	FoundNothing ReleaseFound = iota // no lock
	FoundOwn                         // the token's lock, now released
	FoundOther                       // another owner's lock
)

// LeaveRequest gives up a position in the queue.
type LeaveRequest struct {
	Key      string
	WaiterID string
	Handoff  time.Duration
	Mode     Mode // in which the waiter wanted the lock; a bar of the waiter goes, too

	Semaphore *Semaphore // whose slots it waited for; nil for other locks
}
