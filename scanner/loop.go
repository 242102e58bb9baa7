package scanner

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/scanner/internal/clock"
)

// loop is the goroutine of Start.
type loop struct {
	mu      sync.Mutex
	started bool
	cancel  context.CancelFunc
	done    chan struct{}
}

// start runs do until stop is called or ctx ends: first within a tenth of the interval, then one interval after each
// run, give or take 10 %. At the end it calls finish. It can be started once.
func (l *loop) start(ctx context.Context, interval time.Duration, do, finish func(context.Context)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ctx.Err() != nil {
		return ErrClosed
	}
	if l.started {
		return ErrStarted
	}
	ctx, l.cancel = context.WithCancel(ctx)
	l.started = true
	go func() {
		defer close(l.done)
		defer l.cancel()
		defer finish(ctx)
		wait := rand.N(interval/10 + 1)
		for clock.Pause(ctx, wait) {
			do(ctx)
			wait = clock.Jittered(interval)
		}
	}()
	return nil
}

// stop returns when the goroutine, if there is one, has ended.
func (l *loop) stop() {
	l.mu.Lock()
	started := l.started
	l.mu.Unlock()
	if started {
		l.cancel()
		<-l.done
	}
}

// leader holds the lock of [WithLocker] from sweep to sweep.
type leader struct {
	locker   lock.Locker // nil: everybody leads
	resource string
	maxHold  time.Duration
	renewed  time.Duration // after which the lock is acquired again
	lease    lock.Lease    // nil: not leading
	since    time.Time
	unknown  time.Time // since when the holder of the lock is unknown; zero: it is known
}

// undecidedIntervals is for how many intervals a process stands by while it cannot tell who has the lock.
const undecidedIntervals = 3

// releaseTimeout bounds the release of the lock after the loop's context has ended.
const releaseTimeout = 5 * time.Second

// lead returns the context for a sweep, which ends with the lease. If the lock is not held, it tries once to acquire
// it.
func (l *leader) lead(ctx context.Context) (context.Context, error) {
	if l.locker == nil {
		return ctx, nil
	}
	if l.lease != nil && (l.lease.Context().Err() != nil || time.Since(l.since) > l.renewed) {
		l.release(ctx)
	}
	if l.lease == nil {
		lease, err := l.locker.Acquire(ctx, l.resource, lock.NoWait(), lock.MaxHold(l.maxHold))
		if err != nil {
			l.note(errors.Is(err, lock.ErrHeld))
			return nil, err
		}
		l.lease, l.since = lease, time.Now()
		l.note(true)
	}
	return l.lease.Context(), nil
}

// note records whether the holder of the lock is known.
func (l *leader) note(decided bool) {
	switch {
	case decided:
		l.unknown = time.Time{}
	case l.unknown.IsZero():
		l.unknown = time.Now()
	}
}

// undecided returns for how long the holder of the lock has been unknown.
func (l *leader) undecided() time.Duration {
	if l.unknown.IsZero() {
		return 0
	}
	return time.Since(l.unknown)
}

// release releases the lock. If that fails, the lock expires.
func (l *leader) release(ctx context.Context) {
	if l.lease == nil {
		return
	}
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	_ = l.lease.Release(within)
	l.lease = nil
}
