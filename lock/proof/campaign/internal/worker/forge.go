//go:build linux

package worker

import (
	"context"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/proof/campaign/internal/ledger"
)

// forger is a Locker that asks nobody: its leases have the fence that the ledger has seen
// last, as those of a broken lock service might. Judges have to find it out.
type forger struct{ ledger *ledger.Client }

func (f forger) Acquire(ctx context.Context, resource string, opts ...lock.AcquireOption) (lock.Lease, error) {
	fence, err := f.ledger.Highest(resource)
	if err != nil {
		return nil, err
	}
	l := &forged{resource: resource, fence: fence, until: time.Now().Add(lock.NewAcquireOptions(opts...).TTL)}
	l.ctx, l.cancel = context.WithCancelCause(ctx)
	l.timer = time.AfterFunc(time.Until(l.until), func() { l.cancel(lock.ErrLost) })
	return l, nil
}

// forged is a lease of nobody's.
type forged struct {
	resource string
	fence    uint64
	until    time.Time
	ctx      context.Context
	cancel   context.CancelCauseFunc
	timer    *time.Timer
}

func (l *forged) Resource() string             { return l.resource }
func (l *forged) Context() context.Context     { return l.ctx }
func (l *forged) Fence() uint64                { return l.fence }
func (l *forged) Remaining() time.Duration     { return time.Until(l.until) }
func (l *forged) Extend(context.Context) error { return l.ctx.Err() }

func (l *forged) Release(context.Context) error {
	l.timer.Stop()
	l.cancel(lock.ErrReleased)
	return nil
}
