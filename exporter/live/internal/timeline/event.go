package timeline

import (
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/lockscope/lockscope/lock"
)

// Kind is the kind of an Event.
type Kind uint8

// The kinds of Event.
const (
	Call    Kind = iota // an Acquire; Outcome is acquired or the reason of its failure
	Attempt             // a round of voting; Outcome is its verdict
	Vote                // a command on the node Name; What is the operation, Outcome the verdict
	Wait                // a wait of the kind Name; What is its class, Outcome what ended it
	Lease               // from the grant to its end here; Outcome is how it ended
	Renewal             // a round of renewal; Outcome is its locktrace.RenewOutcome
)

// Outcomes of calls and leases. Other outcomes are a lock.Reason.
const (
	Acquired = "acquired"
	Released = "released"
	Lost     = "lost"
	MaxHold  = "max hold"
)

// What ended a wait that did not fail: somebody or its time limit.
const (
	Woken      = "woken"       // a release that named this waiter, or the caller before it
	HandedOver = "handed_over" // the caller before it in this process handed it the lock
	Elapsed    = "timeout"     // nobody woke it for as long as it meant to wait
)

// Event is something that happened to a resource.
type Event struct {
	Start, End time.Duration // since the Base of the Recorder
	Of         *Caller
	By         *Holder // of a wait or an attempt: who had the resource; nil if that is unknown
	Fence      uint64
	Name       string
	What       string
	Outcome    string
	Detail     string // why it failed
	Attempt    int32  // of a Call: steps that were not kept, because it has so many
	Kind       Kind
	Open       bool // it has not ended: End is the time of the look
}

// Caller made a call. All events of a call and its lease have the same one.
type Caller struct {
	Instance string
	CallSite string // "" if unknown
	Trace    trace.TraceID
}

// Holder is a holder that refusals named.
type Holder struct {
	Instance, CallSite, Trace string
	Since                     time.Duration // start of its attempt on its own clock, as an offset from the Base
	Known                     bool          // Since is known
	Here                      bool          // it is a locker of this Board
}

// is reports whether a refusal names that holder.
//
// Leases of this Board have events of their own, so their start does not matter here.
func (h *Holder) is(held *lock.HeldError, since time.Duration) bool {
	return h != nil && h.Instance == held.Holder.Instance &&
		(h.Here || h.Since == since && h.Known != held.Holder.Since.IsZero())
}
