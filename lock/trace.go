package lock

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/lockscope/lockscope/lock/internal/carried"
)

// Trace is a set of hooks that report the steps of the algorithm. Like
// [net/http/httptrace.ClientTrace] it travels in a context; see [WithTrace].
//
//  1. Any hook may be nil. The struct must not change once it is installed.
//  2. Hooks run inline and concurrently: return fast, never block, never call
//     back into the lock.
//  3. Exactly one End hook follows every Start hook, also on cancellation. It gets
//     the context that the Start hook returned.
//  4. End events include the fields of their Start events, so End hooks suffice for
//     metrics.
//  5. A slow node's NodeEnd may come after AcquireEnd, even after ReleaseEnd.
//  6. Acquire reads the trace once, and the lease keeps it. Renewals and releases
//     report to it, in contexts with the values of Acquire's context but without its
//     cancellation.
//  7. No event carries an owner token.
//  8. If a hook panics, the lock goes on as if the hook had returned, and the panic is
//     logged to slog.Default with its stack.
//
// Minor versions may add hooks and fields.
type Trace struct {
	AcquireStart func(context.Context, AcquireStart) context.Context
	AcquireEnd   func(context.Context, AcquireEnd)
	AttemptStart func(context.Context, AttemptStart) context.Context
	AttemptEnd   func(context.Context, AttemptEnd)
	NodeStart    func(context.Context, NodeStart) context.Context
	NodeEnd      func(context.Context, NodeEnd)
	NodeRestart  func(context.Context, NodeRestart)
	Deadlock     func(context.Context, Deadlock)
	WaitStart    func(context.Context, WaitStart) context.Context
	WaitEnd      func(context.Context, WaitEnd)
	RenewStart   func(context.Context, RenewStart) context.Context
	RenewEnd     func(context.Context, RenewEnd)
	ReleaseStart func(context.Context, ReleaseStart) context.Context
	ReleaseEnd   func(context.Context, ReleaseEnd)
}

// Backend describes the nodes of an engine.
type Backend struct {
	System string // kind of server, as in OpenTelemetry's db.system.name: "redis"
	Name   string // the name given with [WithBackend], else System
	// Namespace is OpenTelemetry's db.namespace: the database number of all Redis nodes.
	// It is "" if the nodes have none, or differ in it.
	Namespace string
	// Keyspace is an opaque identifier of the set of locks. Two engines have the same one
	// if their servers (by address), Namespace and prefix are the same: a resource name
	// then means the same lock to both.
	Keyspace string
}

// AcquireStart begins one Acquire.
type AcquireStart struct {
	Resource string
	Backend  Backend
	Nodes    int
	Quorum   int
	Options  AcquireOptions
	CallSite string      // of the call, with [WithCallSites]
	Holds    []HeldLease // leases that the caller holds while it waits; see [HeldLeases]
}

// AcquireEnd ends one Acquire.
type AcquireEnd struct {
	AcquireStart
	Attempts   int // 0 if the lock was handed over, or waiting ended before the first
	Took       time.Duration
	Validity   time.Duration // validity left; zero on failure
	Fence      uint64        // zero on failure
	HandedOver bool          // a lease of this process handed the lock over; no node was asked
	Err        error
}

// AttemptStart begins one round of the algorithm.
type AttemptStart struct {
	Resource  string
	Attempt   int  // from 1
	GateFirst bool // the gate node is asked before the others
}

// AttemptEnd ends one round. Granted minus quorum is the vote margin.
type AttemptEnd struct {
	AttemptStart
	Nodes    int
	Quorum   int
	Granted  int // votes when the outcome was decided; later votes do not count
	Refused  int
	Failed   int
	Raised   bool          // the fencing token needed a second round trip
	Validity time.Duration // zero on failure
	Took     time.Duration
	Err      error
}

// NodeStart begins one command on one node.
type NodeStart struct {
	Resource string
	Backend  Backend
	Node     string
	Op       Operation
	Attempt  int // of the Acquire it belongs to; 0 for renewals and releases
}

// NodeEnd ends one command on one node.
type NodeEnd struct {
	NodeStart
	Took    time.Duration
	Verdict Verdict
	Err     error // why the node failed; nil if it answered
	// ClockSkew is how far the node's clock is ahead of this process's, as it was last
	// measured; 0 if unknown.
	ClockSkew time.Duration
}

// NodeRestart reports that a node may have forgotten locks that are still valid:
//   - a different server process answers than before; or
//   - the process is so young that locks may have been valid when it started; or
//   - the process evicted keys under memory pressure.
//
// It is reported once for each restart that a locker detects, with the first vote after it
// that has a trace.
type NodeRestart struct {
	Node    string
	Backend Backend

	Witnessed bool          // a different process answered before; false: this one was young when first seen
	Left      time.Duration // how long the forgotten locks can still be valid
	Enforced  bool          // true: the node does not vote until then; false: it votes, and two leases can be valid
	Evicted   bool          // the node did not restart, but evicted keys
}

// Undialed reports whether the command failed for want of a connection. A client may remember a
// failed dial and fail further calls at once: Took is then no measure of the node.
func (e NodeEnd) Undialed() bool {
	op, ok := errors.AsType[*net.OpError](e.Err)
	return ok && op.Op == "dial"
}

// Verdict is a node's answer in one word.
type Verdict string

// The verdicts of a node.
const (
	VerdictGranted  Verdict = "granted"  // the node did the operation
	VerdictRefused  Verdict = "refused"  // the node refused: the lock is held, or no longer held
	VerdictFailed   Verdict = "failed"   // the node answered with an error, or not at all
	VerdictRefilled Verdict = "refilled" // the node had lost the key and got it back; no vote
	// These two appear in errors only, never in events:
	VerdictUnheard  Verdict = "unheard"   // the round was over before the node answered
	VerdictNotAsked Verdict = "not_asked" // nothing was sent to the node in this round
)

// WaitKind is what a caller waits for.
type WaitKind string

// The kinds of wait.
const (
	WaitLocal   WaitKind = "local"   // behind other callers of this process
	WaitHolder  WaitKind = "holder"  // for the holder to release or expire
	WaitBackoff WaitKind = "backoff" // for nodes to answer again
)

// WaitStart begins a wait between attempts.
type WaitStart struct {
	Resource string
	Kind     WaitKind
	Ahead    int        // waiters in front, if known
	First    bool       // nobody is in front of this process, as the nodes last said; false if unknown
	Blocker  *HeldError // the holder, if known; for WaitLocal, what Front returned
	Last     error      // error of the previous attempt; nil for WaitLocal
	// Front returns the current holder, if known, and why the last attempt of the caller in front failed. It is set for
	// WaitLocal only. It may be called at any time and concurrently.
	Front func() (holder *HeldError, last error)
}

// WaitEnd ends a wait.
type WaitEnd struct {
	WaitStart
	Took       time.Duration
	Named      bool // a release named this waiter as the next
	HandedOver bool // a release in this process handed the lock over; only with WaitLocal
	Err        error
}

// RenewStart begins one round of renewal.
type RenewStart struct {
	Resource  string
	Fence     uint64
	Remaining time.Duration
}

// RenewOutcome is the result of a renewal round.
type RenewOutcome string

// The outcomes of a renewal round.
const (
	RenewDone    RenewOutcome = "renewed" // a quorum prolonged the lease
	RenewUnknown RenewOutcome = "unknown" // too few nodes answered to know; tried again soon
	RenewLost    RenewOutcome = "lost"    // the lease is lost, or reached its maximum hold
	// RenewOvertaken means that the lease was released or handed over, or the engine closed,
	// while the nodes were asked. The lease is not lost.
	RenewOvertaken RenewOutcome = "overtaken"
)

// RenewEnd ends one round of renewal. Left is the validity after it.
type RenewEnd struct {
	RenewStart
	Outcome  RenewOutcome
	Granted  int
	Refused  int
	Failed   int
	Refilled int // nodes that had lost the key and got it back
	Left     time.Duration
	Took     time.Duration
	Err      error
}

// ReleaseStart begins a release.
type ReleaseStart struct {
	Resource string
	Fence    uint64
	HeldFor  time.Duration
}

// ReleaseEnd ends a release. The counts cover the nodes that had answered when the outcome was
// certain. All are 0 if the lock was handed over.
type ReleaseEnd struct {
	ReleaseStart
	Outcome    Outcome // [OutcomeReleased] if it was handed over
	Granted    int     // nodes that held the lock and released it
	Refused    int     // nodes that no longer held it, or hold it for another owner
	Failed     int
	HandedOver bool // to the first waiting caller of this process; no node was asked
	Took       time.Duration
	Err        error
}

// WithTrace returns a context whose acquisitions report to t, after the traces that ctx already
// has. A nil t returns ctx.
func WithTrace(ctx context.Context, t *Trace) context.Context {
	if t == nil {
		return ctx
	}
	outer, _ := ctx.Value(carried.Traces{}).([]*Trace)
	return context.WithValue(ctx, carried.Traces{}, append(outer[:len(outer):len(outer)], t))
}
