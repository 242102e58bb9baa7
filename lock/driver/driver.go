// Package driver is the seam between package engine and the systems it
// votes on: what a server must be able to do to be a node, what it is asked, what
// it replies, and the classes of errors every layer above understands alike.
//
// Users of locks need nothing of this package but its errors. Who writes a driver
// implements [Node] and hands a set of them to engine.NewEngine; the conformance suite
// of package locktest says whether it does what the engine relies on.
//
// # What a node must do
//
// A node stores for each key who holds it, for how long at most, and a counter that
// rises with every grant and outlives the lock. Each request takes effect at once or
// not at all, and by the node's own clock. A request that was not answered may take
// effect later; the engine sends Release with a Tombstone after it, and a tombstoned
// token must never be granted again.
//
// A driver without a counter replies 0 to every grant: its leases have fence 0.
//
// The engine hands calls over and goes on; it never has two calls about one key under
// way on one node, so that drivers need not keep an order. A driver for a system whose
// client blocks implements [BlockingNode] instead, and engine.Async makes it a Node.
package driver

import (
	"context"
	"time"
)

// Node is one of the servers an engine votes on.
//
// A call that is handed over is answered exactly once, by its deadline, on any
// goroutine: also on the caller's, before the method returns. What is called with the
// answer is short and never blocks, and may hand over the next call. An error means
// that the node did not answer, or not the question: see [Class]. Unless it matches
// [ErrNotSent], whether the command took effect is unknown, now and later. All methods
// may be called concurrently. Requests must not be changed by either side; the node may
// keep them until it has answered.
type Node interface {
	// Name is host:port or an alias, the same for the node's whole life. It never
	// holds a secret.
	Name() string
	// System is what kind of server this is, as the OpenTelemetry attribute
	// db.system.name has it: "redis", "postgresql". It is the same for all nodes of
	// an engine.
	System() string
	// Acquire grants the lock if it is free, or if Token holds it already.
	Acquire(call Call, req *AcquireRequest, to Answer[AcquireReply])
	// Raise lifts the fence counter to Fence, only if the key is still that grant. It
	// answers whether it is. A driver without a counter is never asked.
	Raise(call Call, req *RaiseRequest, to Answer[bool])
	// Extend prolongs the lock if Token holds it.
	Extend(call Call, req *ExtendRequest, to Answer[ExtendReply])
	// Release deletes the lock if Token holds it.
	Release(call Call, req *ReleaseRequest, to Answer[ReleaseReply])
	// Leave takes a waiter out of the key's queue. It answers whether it was there.
	Leave(call Call, req *LeaveRequest, to Answer[bool])
	// Subscribe makes wake be called with a key each time a release names this
	// waiter there, and with "" when messages may have been missed. It returns once
	// that is so, by the end of ctx, and does nothing on a second call. It lasts until
	// Close. A driver that cannot do that returns [ErrNoWakeUps], and has no queue.
	Subscribe(ctx context.Context, waiterID string, wake func(key string)) error
	// Close waits until every call under way is answered, ends the subscription and the
	// connections, and waits for both. Calls after it are answered with [ErrClosed].
	Close() error
}

// Call is what all calls have.
type Call struct {
	// Context has the values for whoever traces the command. Its end is not heeded.
	Context context.Context
	// Deadline is when the call has been answered, with [ErrTimeout] if need be.
	Deadline time.Time
	// Wait is set where the caller has nothing else to do: the node may then use its
	// goroutine, and return when it has answered. It returns at once when Wait ends,
	// and may then answer with [ErrUnheard].
	Wait context.Context
}

// Answer is told the answer to a call.
type Answer[T any] interface {
	Answer(reply T, err error)
}
