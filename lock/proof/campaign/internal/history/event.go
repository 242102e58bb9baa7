//go:build linux

// Package history is what a worker writes down of its locks while it works, one line of
// JSON for each event, for judges to read afterwards. All instants are of CLOCK_MONOTONIC
// in nanoseconds, which is one clock for all processes of a machine and is never stepped.
package history

import "golang.org/x/sys/unix"

// Kind is what an event tells of.
type Kind string

// The kinds of events.
const (
	Started  Kind = "started"  // the worker: Text is what it was told to do
	Call     Kind = "call"     // an Acquire begins
	Return   Kind = "return"   // it returns, with a lease unless Outcome says why not
	Extended Kind = "extended" // an Extend by hand has returned
	Renewed  Kind = "renewed"  // a round of renewal is over, by hand or not
	Write    Kind = "write"    // an update was read under the lease and is written now
	Written  Kind = "written"  // the ledger has answered
	Release  Kind = "release"  // a Release begins
	Released Kind = "released" // it has returned
	Ended    Kind = "ended"    // the lease's context has ended: Outcome says why
	Restart  Kind = "restart"  // the locker told of a node's restart
	Stall    Kind = "stall"    // this process did not get to run from Since to T
	Claimed  Kind = "claimed"  // a Construct was seen valid; Text is the slot of a permit
	Yielded  Kind = "yielded"  // it begins to be given back; Outcome says why it had ended before
	Done     Kind = "done"     // the worker has ended by itself: Text is what it left behind
)

// Construct is what is built on locks.
type Construct string

// The constructs that a campaign uses.
const (
	Term      Construct = "term"   // of an election
	Permit    Construct = "permit" // of a semaphore
	Set       Construct = "set"    // of locks, its members with commas between them
	WriteLock Construct = "writer" // of a read/write lock
	ReadLock  Construct = "reader"
)

// Constructs are all of them. Readers have two places, so that there are several at a time.
var Constructs = []Construct{Term, Permit, Set, WriteLock, ReadLock, Permit, Set, ReadLock}

// Blind is the Text of a Write whose worker did not look whether the lease is valid.
const Blind = "blind"

// Event is one line. Fields that a kind does not need are left out.
type Event struct {
	T    int64 `json:"t"`
	Kind Kind  `json:"k"`
	// ID is that of an Acquire, and of the lease that comes of it, in its worker.
	ID       int64  `json:"id,omitempty"`
	Resource string `json:"r,omitempty"`
	Fence    uint64 `json:"f,omitempty"`
	// Until says that the lease was seen valid, and would be until then at least, were it
	// not ended before. Of Ended, it is when validity ended.
	Until int64 `json:"u,omitempty"`
	// Since is when what is over at T began: of Write, the reading before it.
	Since int64 `json:"s,omitempty"`
	// Late is, of Ended, how much later than the end of validity it was told.
	Late int64 `json:"late,omitempty"`

	Construct  Construct `json:"c,omitempty"`
	Outcome    string    `json:"o,omitempty"`
	NoWait     bool      `json:"nw,omitempty"`
	HandedOver bool      `json:"ho,omitempty"`
	Attempts   int       `json:"a,omitempty"`
	Version    int64     `json:"v,omitempty"` // of the register, as it was read
	Accepted   bool      `json:"ok,omitempty"`
	Node       string    `json:"n,omitempty"`
	Enforced   bool      `json:"e,omitempty"`
	Text       string    `json:"x,omitempty"`
}

// Now is the instant of now.
func Now() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // it fails only for clocks that do not exist
	return t.Nano()
}
