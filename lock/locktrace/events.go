package locktrace

import (
	"errors"
	"net"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// Backend describes the nodes of an engine.
type Backend struct {
	System string // kind of server, as in OpenTelemetry's db.system.name: "redis"
	Name   string // the name given with [lock.WithBackend], else System
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
	Options  lock.AcquireOptions
	CallSite string           // of the call, with [lock.WithCallSites]
	Holds    []lock.HeldLease // leases that the caller holds while it waits; see [lock.HeldLeases]
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
	Op       lock.Operation
	Attempt  int // of the Acquire it belongs to; 0 for renewals and releases
}

// NodeEnd ends one command on one node.
type NodeEnd struct {
	NodeStart
	Took    time.Duration
	Verdict lock.Verdict
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
	Outcome    lock.Outcome // [lock.OutcomeReleased] if it was handed over
	Granted    int          // nodes that held the lock and released it
	Refused    int          // nodes that no longer held it, or hold it for another owner
	Failed     int
	HandedOver bool // to the first waiting caller of this process; no node was asked
	Took       time.Duration
	Err        error
}
