package lock

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/lockscope/lockscope/lock/internal/carried"
)

// Trace is a set of hooks that report what only the algorithm knows. It has the
// shape of [net/http/httptrace.ClientTrace] and travels in a context.
//
//  1. Any hook may be nil. The struct must not change once it is installed.
//  2. Hooks run inline and concurrently: return fast, never block, never call
//     back into the lock.
//  3. Every Start hook is followed by exactly one End hook, which gets the
//     context that Start returned, also on cancellation.
//  4. End events repeat what Start said, so that End hooks suffice for metrics.
//  5. NodeEnd may come after AcquireEnd, even after ReleaseEnd: a straggler
//     answers when it answers.
//  6. The trace is read once per Acquire and kept by the lease: renewals and
//     releases report to it, in contexts that carry the values of Acquire's
//     context but not its cancellation.
//  7. No event carries an owner token.
//  8. A hook that panics is contained: the lock goes on as if it had returned, and
//     slog.Default is told, with the stack.
//
// Hooks and fields may be added in any minor version.
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

// Backend is what the nodes of an engine are.
type Backend struct {
	System string // what kind of server: db.system.name of OpenTelemetry, "redis"
	Name   string // the name given with [WithBackend], else System
	// Namespace is db.namespace of OpenTelemetry: the number of the database on all Redis
	// nodes; "" if there is none, or not one.
	Namespace string
	// Keyspace is the same for all engines of which a resource of one name is one lock: on
	// the same servers, as their addresses tell, in the same Namespace, with the same prefix.
	// It is opaque. What differs in it has nothing in common but names.
	Keyspace string
}

// AcquireStart begins one Acquire.
type AcquireStart struct {
	Resource string
	Backend  Backend
	Nodes    int
	Quorum   int
	Options  AcquireOptions
	CallSite string // of the call, with [WithCallSites]
	Holding  []Held // what the caller holds while it waits; see the function Holding
}

// AcquireEnd ends one Acquire.
type AcquireEnd struct {
	AcquireStart
	Attempts   int // 0 if the lock was handed over, or waiting ended before the first
	Took       time.Duration
	Validity   time.Duration // validity left; zero on failure
	Fence      uint64        // zero on failure
	HandedOver bool          // by a lease of this process, without asking a node
	Err        error
}

// AttemptStart begins one round of the algorithm.
type AttemptStart struct {
	Resource  string
	Attempt   int  // from 1
	GateFirst bool // asks the gate node before the others
}

// AttemptEnd ends one round. Granted minus quorum is the vote margin.
type AttemptEnd struct {
	AttemptStart
	Nodes    int
	Quorum   int
	Granted  int // votes when the outcome was decided; later ones do not count
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
}

// NodeRestart says that a node may have forgotten locks that are still valid: another
// server process answers for it than before, or one that is so young that locks may have
// been valid when it began, or the same process has dropped keys for want of memory. It is
// told once for each restart that a locker notices, with the first vote after it that has a
// trace.
type NodeRestart struct {
	Node    string
	Backend Backend

	Witnessed bool          // another process had answered before; else this one was young when it was first met
	Left      time.Duration // how long locks it may have forgotten can still be valid
	Enforced  bool          // the node does not vote until then; if not, it votes, and two leases can be valid
	Evicted   bool          // it did not restart: it has dropped keys
}

// Undialed reports that there was no connection to send the command on. A client may
// remember a failed dial and fail further calls at once: Took then says nothing of the
// node.
func (e NodeEnd) Undialed() bool {
	op, ok := errors.AsType[*net.OpError](e.Err)
	return ok && op.Op == "dial"
}

// Verdict is a node's answer in one word.
type Verdict string

// The verdicts of a node.
const (
	VerdictGranted  Verdict = "granted"  // it did what was asked
	VerdictRefused  Verdict = "refused"  // it answered no: held, not held any more
	VerdictFailed   Verdict = "failed"   // it answered with an error, or not at all
	VerdictRefilled Verdict = "refilled" // it had lost the key and got it back; no vote
	// Of a node in an error, where no event tells its answer:
	VerdictUnheard  Verdict = "unheard"   // it was asked, and the round was over before it answered
	VerdictNotAsked Verdict = "not_asked" // nothing was sent to it in this round
)

// WaitKind says where a caller waits.
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
	Ahead    int        // waiters in front, where known
	Blocker  *HeldError // who is waited for, where known; for WaitLocal, whom the caller in front waits for
	Last     error      // failure of the attempt before; nil for WaitLocal
}

// WaitEnd ends a wait.
type WaitEnd struct {
	WaitStart
	Took       time.Duration
	Named      bool // a release named this waiter as the next
	HandedOver bool // a release of this process handed the lock over; only with WaitLocal
	Err        error
}

// RenewStart begins one round of renewal.
type RenewStart struct {
	Resource  string
	Fence     uint64
	Remaining time.Duration
}

// RenewOutcome is the verdict of a renewal round.
type RenewOutcome string

// The outcomes of a renewal round.
const (
	RenewDone    RenewOutcome = "renewed" // a quorum prolonged the lease
	RenewUnknown RenewOutcome = "unknown" // could not tell; tried again soon
	RenewLost    RenewOutcome = "lost"    // the lease is lost, or reached its maximum hold
	// RenewOvertaken: the lease was released or handed over while the nodes were asked, or
	// its engine was closed. Nothing is lost by that.
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
	Held     time.Duration
}

// ReleaseEnd ends a release. The counts are of the nodes that had answered when
// the outcome was certain; those in none of them had not. All are 0 if the lock was
// handed over.
type ReleaseEnd struct {
	ReleaseStart
	Outcome    Outcome // [OutcomeReleased] if it was handed over
	Granted    int     // nodes that held the lock and let go of it
	Refused    int     // nodes that no longer knew it, or held another's
	Failed     int
	HandedOver bool // to the caller of this process that waited first; no node was asked
	Took       time.Duration
	Err        error
}

// WithTrace returns a context in which t is told what happens. A trace already
// there goes on being told, first.
func WithTrace(ctx context.Context, t *Trace) context.Context {
	if t == nil {
		return ctx
	}
	outer, _ := ctx.Value(carried.Traces{}).([]*Trace)
	return context.WithValue(ctx, carried.Traces{}, append(outer[:len(outer):len(outer)], t))
}
