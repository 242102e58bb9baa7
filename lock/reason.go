package lock

import (
	"context"
	"errors"
)

// Reason is why something failed, in one word.
type Reason string

// The closed set of values [ReasonOf] returns.
const (
	ReasonNone     Reason = ""          // no error
	ReasonInvalid  Reason = "invalid"   // bad input, or a driver cannot do it; nothing was sent
	ReasonClosed   Reason = "closed"    // the engine was closed
	ReasonCanceled Reason = "canceled"  // the caller's context was cancelled
	ReasonTimeout  Reason = "timeout"   // a deadline passed, or the wait budget was spent
	ReasonHeld     Reason = "held"      // another owner holds the resource
	ReasonDeadlock Reason = "deadlock"  // the wait was part of a deadlock
	ReasonNoQuorum Reason = "no_quorum" // too few nodes answered, or too late
	ReasonLost     Reason = "lost"      // the lease is over
	ReasonNotHeld  Reason = "not_held"  // the nodes no longer held the lease
	ReasonError    Reason = "error"     // anything else
)

// reasons is searched in order: the first match wins.
var reasons = [...]struct {
	target error
	reason Reason
}{
	{ErrInvalidResource, ReasonInvalid},
	{ErrInvalidTTL, ReasonInvalid},
	{ErrInvalidOption, ReasonInvalid},
	{ErrInvalidNode, ReasonInvalid},
	{ErrClosed, ReasonClosed},
	{ErrLost, ReasonLost},
	{ErrMaxHold, ReasonLost},
	{ErrReleased, ReasonNotHeld},
	{ErrNotHeld, ReasonNotHeld},
	{ErrDeadlock, ReasonDeadlock},
	{ErrMaxWait, ReasonTimeout},
	{ErrHeld, ReasonHeld},
	{ErrNoQuorum, ReasonNoQuorum},
	{ErrTooLate, ReasonNoQuorum},
	{context.Canceled, ReasonCanceled},
	{context.DeadlineExceeded, ReasonTimeout},
	{errors.ErrUnsupported, ReasonInvalid}, // last: it also matches errors of the network, which have a reason above
}

// ReasonOf maps an error of this package to a closed set of short words, fit for a metric
// label. For a [WaitError] it returns why the wait ended, whatever the last attempt's error was.
func ReasonOf(err error) Reason {
	if err == nil {
		return ReasonNone
	}
	var cut *WaitError
	if errors.As(err, &cut) {
		err = cut.Err
	}
	for _, r := range reasons {
		if errors.Is(err, r.target) {
			return r.reason
		}
	}
	return ReasonError
}
