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
	ReasonInvalid  Reason = "invalid"   // bad input; nothing was sent
	ReasonClosed   Reason = "closed"    // the engine was closed
	ReasonCanceled Reason = "canceled"  // the caller's context was cancelled
	ReasonTimeout  Reason = "timeout"   // a deadline or the wait budget ended
	ReasonHeld     Reason = "held"      // somebody else holds the resource
	ReasonDeadlock Reason = "deadlock"  // it waited for what its own caller keeps from being released
	ReasonNoQuorum Reason = "no_quorum" // too few nodes answered, or too late
	ReasonLost     Reason = "lost"      // the lease is over
	ReasonNotHeld  Reason = "not_held"  // the nodes did not hold the lease any more
	ReasonError    Reason = "error"     // anything else
)

// reasons is looked through in order: the first match wins.
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
}

// ReasonOf maps an error of this package to a closed set of short words, fit for a
// metric label. Where a wait was cut short by a context, that is the reason,
// whatever the last attempt had met.
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
