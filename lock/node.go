package lock

import (
	"context"
	"time"
)

// Node is one of the independent servers a Redlock votes on. It is the seam at
// which tests put fakes; production code uses the go-redis implementation that
// New makes.
//
// Every method returns by the time its context ends. An error means that the
// node did not answer; it matches ErrNodeBusy if nothing was sent, otherwise
// whether the command took effect is unknown.
type Node interface {
	// Name is host:port or an alias; it never holds a secret.
	Name() string
	// Acquire grants the lock if it is free, or if Token holds it already.
	Acquire(ctx context.Context, req AcquireRequest) (AcquireReply, error)
	// Raise lifts the fence counter to Fence, only if the key is still that grant.
	Raise(ctx context.Context, req RaiseRequest) (bool, error)
	// Extend prolongs the lock if Token holds it.
	Extend(ctx context.Context, req ExtendRequest) (Extension, error)
	// Release deletes the lock if Token holds it.
	Release(ctx context.Context, req ReleaseRequest) (ReleaseReply, error)
	// Leave takes a waiter out of the queue.
	Leave(ctx context.Context, req LeaveRequest) error
	// Subscribe makes wake be called with a lock key each time a release names
	// this waiter, and with "" when messages may have been missed. It returns
	// once that is so, and does nothing on a second call. It lasts until Close.
	Subscribe(ctx context.Context, waiterID string, wake func(lockKey string)) error
	// Close ends the subscription and the connections, and waits for both.
	Close() error
}

// AcquireRequest asks a node for a lock.
type AcquireRequest struct {
	Keys   Keys
	Token  string
	Holder string // holder record to store
	TTL    time.Duration
	Floor  uint64 // the counter becomes at least this
	Waiter Waiter
	Fair   bool
	Window time.Duration // how long the lock is kept for a waiter that is named
}

// Waiter is a place in a node's queue.
type Waiter struct {
	ID      string // "" for a caller that does not wait
	Enqueue bool   // join the queue if refused
	Ticket  int64  // place to rejoin at; 0 for the end of the queue
}

// AcquireReply is a node's vote.
type AcquireReply struct {
	Granted  bool
	Counter  uint64        // fence counter of the grant
	Reserved bool          // refused because the lock is kept for the next waiter
	TTL      time.Duration // refused: what is left of the lock; negative if it never expires
	Holder   string        // refused: holder record, "" if unknown
	Ticket   int64         // refused: the caller's place, 0 if it does not queue
	Ahead    int           // refused: waiters in front

	// Restart is set in one reply, also beside an error, for every restart of the
	// server that the node has noticed. The caller tells the traces.
	Restart *NodeRestart
}

// RaiseRequest lifts a fence counter.
type RaiseRequest struct {
	Keys    Keys
	Token   string
	Counter uint64 // of the grant
	Fence   uint64
}

// ExtendRequest prolongs a lock.
type ExtendRequest struct {
	Keys   Keys
	Token  string
	TTL    time.Duration
	Refill bool // put the key back where it was lost
	Fence  uint64
	Holder string
}

// Extension is a node's answer to Extend.
type Extension int

// The answers to Extend.
const (
	ExtendGone     Extension = iota // the key is not there
	Extended                        // prolonged
	ExtendRefilled                  // was not there and is again: no vote
	ExtendTaken                     // somebody else's
)

// ReleaseRequest gives a lock back.
type ReleaseRequest struct {
	Keys      Keys
	Token     string
	Tombstone time.Duration // > 0: an acquire of Token may still arrive and must not take effect
	Handoff   time.Duration // > 0: name the next waiter and keep the lock for it this long
	Waiter    Waiter        // rejoins the queue if its ID is set
}

// ReleaseReply is a node's answer to Release.
type ReleaseReply struct {
	Outcome Outcome // Released, Expired or NotOwner
	Named   bool    // a waiter was told that it is next
}

// LeaveRequest gives up a place in the queue.
type LeaveRequest struct {
	Keys     Keys
	WaiterID string
	Handoff  time.Duration
}
