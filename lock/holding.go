package lock

import (
	"context"
	"fmt"

	"github.com/lockscope/lockscope/lock/internal/carried"
)

// Held is a lease that a context holds: one that it descends from, and that is not over.
type Held struct {
	Resource string `json:"resource"`
	Fence    uint64 `json:"fence"`
	// Backend is the name of its set of nodes; in a queue entry only if it is another than the
	// queue's.
	Backend  string `json:"backend,omitempty"`
	Keyspace string `json:"-"` // see [Backend]; "" where that is not known, as in a queue entry
}

func (h Held) String() string { return fmt.Sprintf("%q (fence %d)", h.Resource, h.Fence) }

// Holding returns what ctx holds, the latest first: the leases whose Context it descends
// from. A call that acquires with such a context waits while it holds them: these are the
// edges of the graph of who blocks whom.
func Holding(ctx context.Context) []Held {
	if l, ok := ctx.Value(carried.Lease{}).(interface{ Holding() []Held }); ok {
		return l.Holding()
	}
	return nil
}
