package election

import (
	"context"
	"fmt"
	"sync"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// Campaign waits until this process leads, and returns the term. The caller ends it with [Term.Resign].
//
// When ctx ends before that, the candidate leaves the queue and does not become leader later. When ctx ends after that,
// the term's Context ends, and the leadership is kept until Resign: what the leader is still doing is not done by two.
//
// Campaign fails as [lock.Locker].Acquire does. [Standby], [Failed] and [Once] are for Run.
func Campaign(ctx context.Context, locker lock.Locker, name string, opts ...Option) (Term, error) {
	if locker == nil {
		return Term{}, fmt.Errorf("%w: election %q: the Locker must not be nil", lock.ErrInvalidOption, name)
	}
	cfg := newConfig(opts)
	return campaign(ctx, locker, name, cfg.acquire)
}

// campaign acquires the lease with a context that ends with ctx only while it waits: a lease that ended with ctx would
// not be renewed while its holder still winds down.
func campaign(ctx context.Context, locker lock.Locker, name string, opts []lock.AcquireOption) (Term, error) {
	lease, err := lock.AcquireDetached(ctx, locker, name, opts...)
	if err != nil {
		return Term{}, err
	}
	return Term{lease: lease, ctx: newTermContext(lease.Context(), ctx)}, nil
}

// newTermContext has the values of the lease's context. It ends with the lease or with the caller's context, whichever
// is first.
func newTermContext(lease, caller context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(lease)
	stop := context.AfterFunc(caller, func() { cancel(context.Cause(caller)) })
	context.AfterFunc(ctx, func() { stop() })
	return ctx
}

// standby tells a candidate once that it is the first in line.
type standby struct {
	ctx  context.Context
	fn   func(context.Context, lock.Holder)
	once sync.Once
	work sync.WaitGroup
}

// hear has the signature of locktrace.Trace.WaitStart.
func (s *standby) hear(ctx context.Context, e locktrace.WaitStart) context.Context {
	if e.First && e.Blocker != nil {
		s.once.Do(func() { s.work.Go(func() { s.fn(s.ctx, e.Blocker.Holder) }) })
	}
	return ctx
}
