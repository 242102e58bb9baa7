package lock

import (
	"context"
	"fmt"

	"github.com/lockscope/lockscope/lock/internal/carried"
)

// HeldLease is a lease that a context holds: the context descends from the lease's, and the lease is
// not over.
type HeldLease struct {
	Resource string `json:"resource"`
	Fence    uint64 `json:"fence"`
	// Backend is the name of the lease's set of nodes. In a queue entry it is set only if it
	// differs from the queue's.
	Backend  string `json:"backend,omitempty"`
	Keyspace string `json:"-"` // see locktrace.Backend; "" if unknown, as in a queue entry
}

func (h HeldLease) String() string { return fmt.Sprintf("%q (fence %d)", h.Resource, h.Fence) }

// HeldLeases returns the leases that ctx holds, the latest first: those whose Context it descends
// from. A call that acquires with ctx holds them while it waits. They are the edges of the
// wait graph, which shows who blocks whom.
func HeldLeases(ctx context.Context) []HeldLease {
	if l, ok := ctx.Value(carried.Lease{}).(interface{ HeldLeases() []HeldLease }); ok {
		return l.HeldLeases()
	}
	return nil
}
