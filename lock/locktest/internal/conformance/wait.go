package conformance

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
)

func (s Suite) testWait(t *testing.T) {
	s.run(t, "ends with the release", (*subtest).waitsForRelease)
	s.run(t, "ends with the holder's TTL", (*subtest).waitsForTTL)
	s.run(t, "of the same locker", (*subtest).waitsLocally)
	s.run(t, "of many callers of one locker", (*subtest).queuesLocally)
	s.run(t, "bounded by MaxWait", (*subtest).maxWait)
	s.run(t, "bounded by MaxAttempts", (*subtest).maxAttempts)
	s.run(t, "ended by the context", (*subtest).cancelWhileWaiting)
	s.run(t, "Fair", (*subtest).fair)
}

// waiter acquires in the background.
type waiter struct {
	lease lock.Lease
	err   error
	done  chan struct{}
}

func (c *subtest) wait(ctx context.Context, l lock.Locker, opts ...lock.AcquireOption) *waiter {
	w := &waiter{done: make(chan struct{})}
	go func() {
		defer close(w.done)
		w.lease, w.err = l.Acquire(ctx, c.resource, append([]lock.AcquireOption{lock.TTL(c.TTL)}, opts...)...)
	}()
	return w
}

// served returns the waiter's lease, or ends the subtest.
func (c *subtest) served(w *waiter) lock.Lease {
	c.Helper()
	<-w.done
	if w.err != nil {
		c.Fatalf("waiting for %q: %v", c.resource, w.err)
	}
	return w.lease
}

// stillWaiting gives the waiter time to do wrong.
func (c *subtest) stillWaiting(w *waiter) {
	c.Helper()
	c.waitsFor(w, c.TTL/10)
}

func (c *subtest) waitsFor(w *waiter, d time.Duration) {
	c.Helper()
	select {
	case <-w.done:
		c.Fatalf("did not wait for the holder: %v", w.err)
	case <-time.After(d):
	}
}

func (c *subtest) waitsForRelease() {
	holder := c.acquire(c.locker())
	w := c.wait(c.context(), c.locker())
	c.stillWaiting(w)
	c.release(holder)
	lease := c.served(w)
	c.wantNewer(lease.Fence(), holder.Fence())
	c.release(lease)
}

func (c *subtest) waitsForTTL() {
	holder := c.acquire(c.locker(), lock.NoRenew())
	lease := c.served(c.wait(c.context(), c.locker()))
	if holder.Remaining() > 0 {
		c.Error("served while the holder's lease was valid")
	}
	c.release(lease)
	_ = holder.Release(c.context())
}

func (c *subtest) waitsLocally() {
	l := c.locker()
	holder := c.acquire(l)
	w := c.wait(c.context(), l)
	c.stillWaiting(w)
	c.release(holder)
	c.release(c.served(w))
}

// queuesLocally: callers of one locker in a queue, among which it may hand the lock over,
// and one of another locker: exclusive, fences unique and increasing.
func (c *subtest) queuesLocally() {
	const callers, each = 8, 10
	l, other := c.locker(), c.locker()
	holder := c.acquire(l)
	last, inside := holder.Fence(), 0 // guarded by the lock
	work := func(by lock.Locker) error {
		return lock.Do(c.context(), by, c.resource, func(ctx context.Context, lease lock.Lease) error {
			if inside++; inside != 1 {
				c.Errorf("%d callers hold the lock", inside)
			}
			c.wantNewer(lease.Fence(), last)
			if lease.Remaining() <= 0 || ctx.Err() != nil {
				c.Errorf("served with %v left: %v", lease.Remaining(), context.Cause(ctx))
			}
			last = lease.Fence()
			inside--
			return nil
		}, lock.TTL(c.TTL))
	}
	errs := make(chan error)
	for w := range callers + 1 {
		by := l
		if w == callers {
			by = other
		}
		go func() {
			var err error
			for range each {
				err = errors.Join(err, work(by))
			}
			errs <- err
		}()
	}
	time.Sleep(c.TTL / 10)
	c.release(holder)
	for range callers + 1 {
		if err := <-errs; err != nil {
			c.Error(err)
		}
	}
	c.wantFree(other)
}

func (c *subtest) maxWait() {
	holder := c.acquire(c.locker())
	budget := c.TTL / 2 // enough for one attempt of a busy machine
	c.within(budget+c.soon(), "MaxWait", func() {
		_, err := c.locker().Acquire(c.context(), c.resource, lock.MaxWait(budget))
		c.wantErr("MaxWait on a held resource", err, lock.ErrMaxWait, lock.ErrHeld)
	})
	c.release(holder)
	// The budget bounds the wait, not the lease.
	lease := c.acquire(c.locker(), lock.MaxWait(budget))
	time.Sleep(budget + budget/2)
	if err := lease.Context().Err(); err != nil {
		c.Errorf("MaxWait ended the lease: %v", context.Cause(lease.Context()))
	}
	c.release(lease)
}

func (c *subtest) maxAttempts() {
	l, other := c.locker(), c.locker()
	for _, l := range []lock.Locker{l, other} { // connected: a busy machine may take longer for that than an attempt
		c.release(c.acquire(l))
	}
	holder := c.acquire(l, lock.MaxAttempts(1))
	_, err := other.Acquire(c.context(), c.resource, lock.MaxAttempts(2))
	c.wantErr("MaxAttempts on a held resource", err, lock.ErrHeld)
	c.release(holder)
	c.wantFree(c.locker())
}

func (c *subtest) cancelWhileWaiting() {
	holder, l := c.acquire(c.locker()), c.locker()
	for _, opts := range [][]lock.AcquireOption{nil, {lock.Fair()}} {
		c.cancelled(l, c.TTL/10, opts...)
	}
	c.release(holder)
	c.wantFree(l)
}

// cancelled cancels a call that has waited for so long. One that had no answer by then, for the system is busy, cannot
// say that the lock is held: it is given more time, up to a TTL.
func (c *subtest) cancelled(l lock.Locker, after time.Duration, opts ...lock.AcquireOption) {
	c.Helper()
	ctx, cancel := context.WithCancel(c.context())
	w := c.wait(ctx, l, opts...)
	c.waitsFor(w, after)
	c.within(c.soon(), "giving up", func() {
		cancel()
		<-w.done
	})
	c.wantErr("Acquire with a context cancelled while waiting", w.err, context.Canceled)
	if !errors.Is(w.err, lock.ErrHeld) && after < c.TTL {
		c.cancelled(l, 2*after, opts...)
		return
	}
	c.wantErr("Acquire with a context cancelled while waiting", w.err, lock.ErrHeld)
}

func (c *subtest) fair() {
	holder := c.acquire(c.locker(), lock.Fair())
	w := c.wait(c.context(), c.locker(), lock.Fair())
	c.stillWaiting(w)
	c.release(holder)
	c.release(c.served(w))
	c.release(c.acquire(c.locker(), lock.Fair()))
}
