// Package driver defines the interface between package engine and the systems that store locks.
// It has the operations of a [Node], their requests and replies, and the classes of errors that
// all layers use.
//
// Users of locks need only the errors of this package. Authors of a driver implement [Node] and
// give a set of nodes to engine.NewEngine. The conformance suite of package locktest checks what
// the engine relies on.
//
// # What a node must do
//
// A node stores for each key its holder, its expiry, and a counter that rises with every
// grant and outlives the lock. A request takes effect atomically or not at all, by the
// node's own clock. A request without an answer may take effect later. The engine then
// sends Release with a Tombstone, and the node must never grant the token of a tombstone again.
//
// What a node can do beyond that is in its [Capabilities]. A small driver embeds [LockOnly] and has none.
//
// A driver without counters replies 0 to every grant: its leases have fence 0.
//
// The engine starts calls without waiting for them. It never has two calls about the same key
// under way on one node, so drivers need not keep an order. A driver whose client blocks
// implements [BlockingNode] instead, and engine.Async turns it into a Node.
package driver

import (
	"context"
	"time"
)

// Node is one of the servers that vote on an engine's locks. All methods may be called
// concurrently.
//
// The node answers every call exactly once, by its deadline. It may answer on any goroutine, also
// on the caller's before the method returns. The answer's receiver is short, never blocks, and may
// start the next call.
//
// An error means that the node failed to answer, or answered with an error: see [Class]. Unless
// the error matches [ErrNotSent], the command may have taken effect, or may do so later. Neither
// side may change a request; the node may keep it until it has answered.
type Node interface {
	// Name returns host:port or an alias. It never changes and never holds a secret.
	Name() string
	// System returns the kind of server, as in OpenTelemetry's db.system.name: "redis",
	// "postgresql". It is the same for all nodes of an engine.
	System() string
	// Capabilities returns what the node can do beside locks. It sends nothing.
	Capabilities() Capabilities
	// Warm returns once a call needs no new connection, when connecting has failed, or when
	// ctx ends: connecting may take longer than the node timeout. The engine calls it once,
	// before the first vote. If connecting failed, that vote reports why.
	Warm(ctx context.Context) error
	// Acquire grants the lock if it is free, or if Token holds it already.
	Acquire(call Call, req *AcquireRequest, to Answer[AcquireReply])
	// Raise lifts the fence counter to Fence if the key still has that grant. It answers
	// whether the key has it. The engine never calls it on drivers without counters.
	Raise(call Call, req *RaiseRequest, to Answer[bool])
	// Extend prolongs the lock if Token holds it.
	Extend(call Call, req *ExtendRequest, to Answer[ExtendReply])
	// Release deletes the lock if Token holds it.
	Release(call Call, req *ReleaseRequest, to Answer[ReleaseReply])
	// Leave takes a waiter out of the key's queue. It answers whether the waiter was there.
	Leave(call Call, req *LeaveRequest, to Answer[bool])
	// Peek answers who holds the lock. It may run beside other calls about the same key.
	// A node without the capability answers as [LockOnly] does; the same goes for Revoke and
	// Resize.
	Peek(call Call, req *PeekRequest, to Answer[PeekReply])
	// Revoke keeps a lease from being renewed. It may run beside other calls about the same
	// key.
	Revoke(call Call, req *RevokeRequest, to Answer[RevokeReply])
	// Resize reads the number of slots of a semaphore, and changes it if the request says to.
	// It may run beside other calls, and while the node may not vote.
	Resize(call Call, req *ResizeRequest, to Answer[ResizeReply])
	// Subscribe registers wake. The node calls it with a key each time a release there
	// names this waiter, and with "" when it may have missed messages. Subscribe returns
	// once the subscription stands, or when ctx ends. The subscription lasts until
	// Close; a second call does nothing. A driver without wake-ups returns
	// [ErrNoWakeUps] and has no queue.
	Subscribe(ctx context.Context, waiterID string, wake func(key string)) error
	// Close waits until every call under way is answered, then ends the subscription and
	// the connections, and waits for both. Later calls are answered with [ErrClosed].
	Close() error
}

// Call holds what all calls have in common.
type Call struct {
	// Context carries values for tracing the command. The node ignores its end.
	Context context.Context
	// Deadline is when the node must have answered, with [ErrTimeout] if need be.
	Deadline time.Time
	// Wait is set if the caller waits for nothing but this call. The node may then run
	// the call on the caller's goroutine and return after its answer. It returns at once
	// when Wait ends, and may then answer with [ErrUnheard].
	Wait context.Context
}

// Answer receives the answer to a call.
type Answer[T any] interface {
	Answer(reply T, err error)
}
