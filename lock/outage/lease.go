package outage

import (
	"context"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// lease is one without a lock.
type lease struct {
	resource string
	ttl      time.Duration
	err      error
	ctx      context.Context
	cancel   context.CancelCauseFunc
}

func without(ctx context.Context, resource string, ttl time.Duration, err error) *lease {
	l := &lease{resource: resource, ttl: ttl, err: err}
	l.ctx, l.cancel = context.WithCancelCause(ctx)
	return l
}

// Resource implements lock.Lease.
func (l *lease) Resource() string { return l.resource }

// Context implements lock.Lease.
func (l *lease) Context() context.Context { return l.ctx }

// Fence implements lock.Lease.
func (l *lease) Fence() uint64 { return 0 }

// Remaining implements lock.Lease.
func (l *lease) Remaining() time.Duration {
	if l.ctx.Err() != nil {
		return 0
	}
	return l.ttl
}

// Extend implements lock.Lease.
func (l *lease) Extend(context.Context) error { return l.err }

// Release implements lock.Lease.
func (l *lease) Release(context.Context) error {
	l.cancel(lock.ErrReleased)
	return nil
}
