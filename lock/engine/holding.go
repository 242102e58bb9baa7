package engine

import (
	"context"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/internal/carried"
)

// leasesOf are the leases that ctx descends from, of any engine, the latest first.
func leasesOf(ctx context.Context) []*lease {
	l, _ := ctx.Value(carried.Lease{}).(*lease)
	return unended(l)
}

// unended are those of a lease and the ones around it that are not over.
func unended(l *lease) (all []*lease) {
	for ; l != nil; l = l.outer {
		if l.cause() == nil {
			all = append(all, l)
		}
	}
	return all
}

func infoOf(leases []*lease) (all []lock.Held) {
	for _, l := range leases {
		all = append(all, l.info())
	}
	return all
}

func (l *lease) info() lock.Held {
	b := l.engine.backend
	return lock.Held{Resource: l.resource, Fence: l.fence, Backend: b.Name, Keyspace: b.Keyspace}
}

// contextOf makes the context of a lease, in which the lease can be found.
func (l *lease) contextOf(parent context.Context) (context.Context, context.CancelCauseFunc) {
	l.outer, _ = parent.Value(carried.Lease{}).(*lease)
	return context.WithCancelCause(context.WithValue(parent, carried.Lease{}, l))
}

// Holding is what a context that descends from the lease holds.
func (l *lease) Holding() []lock.Held { return infoOf(unended(l)) }
