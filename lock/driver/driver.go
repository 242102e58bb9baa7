// Package driver is the seam between the engine of package lock and the systems it
// votes on: what a server must be able to do to be a node, what it is asked, what
// it replies, and the classes of errors every layer above understands alike.
//
// Users of locks need nothing of this package but its errors. Who writes a driver
// implements [Node] and hands a set of them to lock.NewEngine; the conformance suite
// of package locktest says whether it does what the engine relies on.
//
// # What a node must do
//
// A node stores for each key who holds it, for how long at most, and a counter that
// rises with every grant and outlives the lock. Each request takes effect at once or
// not at all, and by the node's own clock. A request that was not answered may take
// effect later; the engine sends Release with a Tombstone after it, in order, and a
// tombstoned token must never be granted again.
//
// A driver without a counter replies 0 to every grant: its leases have fence 0.
package driver

import "context"

// Node is one of the servers an engine votes on.
//
// Every method returns by the time its context ends, may be called concurrently, and
// keeps no reference to its request. An error means that the node did not answer, or
// not the question: see [Class]. Unless it matches [ErrNotSent], whether the command
// took effect is unknown.
type Node interface {
	// Name is host:port or an alias, the same for the node's whole life. It never
	// holds a secret.
	Name() string
	// System is what kind of server this is, as the OpenTelemetry attribute
	// db.system.name has it: "redis", "postgresql". It is the same for all nodes of
	// an engine.
	System() string
	// Acquire grants the lock if it is free, or if Token holds it already.
	Acquire(ctx context.Context, req AcquireRequest) (AcquireReply, error)
	// Raise lifts the fence counter to Fence, only if the key is still that grant. It
	// reports whether it is. A driver without a counter is never asked.
	Raise(ctx context.Context, req RaiseRequest) (bool, error)
	// Extend prolongs the lock if Token holds it.
	Extend(ctx context.Context, req ExtendRequest) (ExtendReply, error)
	// Release deletes the lock if Token holds it.
	Release(ctx context.Context, req ReleaseRequest) (ReleaseReply, error)
	// Leave takes a waiter out of the key's queue.
	Leave(ctx context.Context, req LeaveRequest) error
	// Subscribe makes wake be called with a key each time a release names this
	// waiter there, and with "" when messages may have been missed. It returns once
	// that is so, and does nothing on a second call. It lasts until Close.
	Subscribe(ctx context.Context, waiterID string, wake func(key string)) error
	// Close ends the subscription and the connections, and waits for both.
	Close() error
}
