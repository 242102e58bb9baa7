package live

import (
	"context"

	"github.com/lockscope/lockscope/exporter/live/internal/calls"
	"github.com/lockscope/lockscope/exporter/live/internal/sessions"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/decorate"
)

// locker records on a Board what another Locker does.
type locker struct {
	calls   *calls.Register
	sampler *sessions.Sampler
	next    lock.Locker
	owner   *calls.Owner
}

var _ lock.Locker = (*locker)(nil)

func newLocker(r *written, next lock.Locker, instance string) *locker {
	r.calls.Instances.Add(instance)
	l := &locker{
		calls: r.calls, sampler: r.sampler, next: next,
		owner: &calls.Owner{Instance: instance, Records: &r.calls.Records},
	}
	h := &hooks{written: r, owner: l.owner}
	l.owner.Layer = decorate.NewLayer(h.trace())
	return l
}

// Acquire implements lock.Locker. It returns what the wrapped Locker returns, with a lease that is on the Board until
// its release or its end.
func (l *locker) Acquire(ctx context.Context, resource string, opts ...lock.AcquireOption) (lock.Lease, error) {
	m := l.calls.Begin(ctx, l.owner, resource)
	defer m.Abandoned()
	l.sampler.Touch()
	inner, err := l.next.Acquire(&m.Call, resource, opts...)
	if err != nil || inner == nil {
		m.Failed(err, opts)
		return inner, err
	}
	return m.Acquired(inner), nil
}
