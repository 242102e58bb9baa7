package lock

import (
	"context"
	"fmt"
)

// Held is a lease that a context holds: one that it descends from, and that is not over.
type Held struct {
	Resource string `json:"resource"`
	Fence    uint64 `json:"fence"`
	Backend  string `json:"backend,omitempty"` // name of its set of nodes; in a queue entry only if it is another than the queue's
	Keyspace string `json:"-"`                 // see [Backend]; "" where that is not known, as in a queue entry
}

func (h Held) String() string { return fmt.Sprintf("%q (fence %d)", h.Resource, h.Fence) }

// Holding returns what ctx holds, the latest first: the leases whose Context it descends
// from. A call that acquires with such a context waits while it holds them: these are the
// edges of the graph of who blocks whom.
func Holding(ctx context.Context) []Held { return heldBy(holdersOf(ctx)) }

type leaseKey struct{}

// holdersOf are the leases that ctx descends from, of any engine, the latest first.
func holdersOf(ctx context.Context) (all []*lease) {
	l, _ := ctx.Value(leaseKey{}).(*lease)
	for ; l != nil; l = l.outer {
		if l.cause() == nil {
			all = append(all, l)
		}
	}
	return all
}

func heldBy(leases []*lease) (all []Held) {
	for _, l := range leases {
		all = append(all, l.held())
	}
	return all
}

func (l *lease) held() Held {
	return Held{Resource: l.resource, Fence: l.fence, Backend: l.engine.backend.Name, Keyspace: l.engine.backend.Keyspace}
}

// contextOf makes the context of a lease, in which the lease can be found.
func (l *lease) contextOf(parent context.Context) (context.Context, context.CancelCauseFunc) {
	l.outer, _ = parent.Value(leaseKey{}).(*lease)
	return context.WithCancelCause(context.WithValue(parent, leaseKey{}, l))
}
