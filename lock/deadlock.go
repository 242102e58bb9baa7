package lock

import (
	"fmt"
	"slices"
	"strings"
)

// DeadlockError is a cycle of leases of this process. Calls that hold one lease wait for the next
// lease in the cycle, and calls that hold the last one wait for the first. None of them gets
// any further, unless one call gives up or other work ends one of the leases.
//
// It ends the wait of a call with [FailOnDeadlock], and matches [ErrDeadlock]. The caller still holds its leases and has
// to release them.
type DeadlockError struct {
	Cycle []HeldLease
}

// String names the cycle: "a" (fence 1) waits for "b" (fence 2) waits for "a".
func (d DeadlockError) String() string {
	var b strings.Builder
	for _, h := range d.Cycle {
		fmt.Fprintf(&b, "%v%s waits for ", h, d.on(h))
	}
	if len(d.Cycle) > 0 {
		fmt.Fprintf(&b, "%q%s", d.Cycle[0].Resource, d.on(d.Cycle[0]))
	}
	return b.String()
}

// on names the backend of a lease if the cycle spans several backends.
func (d DeadlockError) on(h HeldLease) string {
	if !slices.ContainsFunc(d.Cycle, func(other HeldLease) bool { return other.Backend != h.Backend }) {
		return ""
	}
	return " on " + h.Backend
}

func (e *DeadlockError) Error() string {
	return ErrDeadlock.Error() + ": " + e.String() +
		". Release the held lock before you wait, or acquire locks in the same order everywhere."
}

// Is makes errors.Is(err, ErrDeadlock) true.
func (e *DeadlockError) Is(target error) bool { return target == ErrDeadlock }
