package lock

import (
	"fmt"
	"slices"
	"strings"
)

// Deadlock is a cycle of leases of this process: calls whose contexts descend from each
// of them wait for the resource of the next, and those of the last for that of the first.
// Unless one of these calls gives up, or a lease has other work under way that ends it,
// none gets any further.
type Deadlock struct {
	Cycle []Held
}

// String names the cycle: "a" (fence 1) waits for "b" (fence 2) waits for "a".
func (d Deadlock) String() string {
	var b strings.Builder
	for _, h := range d.Cycle {
		fmt.Fprintf(&b, "%v%s waits for ", h, d.on(h))
	}
	if len(d.Cycle) > 0 {
		fmt.Fprintf(&b, "%q%s", d.Cycle[0].Resource, d.on(d.Cycle[0]))
	}
	return b.String()
}

// on says on which nodes a lease is, where the cycle is on several sets of them.
func (d Deadlock) on(h Held) string {
	if !slices.ContainsFunc(d.Cycle, func(other Held) bool { return other.Backend != h.Backend }) {
		return ""
	}
	return " on " + h.Backend
}

// DeadlockError is what ended the wait of a call with [FailOnDeadlock]. It matches
// [ErrDeadlock]. The leases that the call holds are left as they are: release them.
type DeadlockError struct {
	Deadlock
}

func (e *DeadlockError) Error() string {
	return ErrDeadlock.Error() + ": " + e.String() +
		": release what is held before waiting, or acquire in the same order everywhere"
}

// Is makes errors.Is(err, ErrDeadlock) true.
func (e *DeadlockError) Is(target error) bool { return target == ErrDeadlock }
