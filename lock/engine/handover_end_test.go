package engine_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/lock/memlock"
)

// TestHandedOverLeaseLivesOnItsOwn: the end of the previous lease, or of its parent, does not end it. It is renewed,
// and ends for reasons of its own.
func TestHandedOverLeaseLivesOnItsOwn(t *testing.T) {
	for name, c := range map[string]struct {
		waiter options
		end    func(p *process, c *caller)
		cause  error
		after  time.Duration
	}{
		"loss": {nil, func(p *process, _ *caller) { lose(p, nil) }, lock.ErrLost, 0},
		"MaxHold": {options{lock.MaxHold(50 * time.Millisecond)}, func(*process, *caller) {}, lock.ErrMaxHold,
			50 * time.Millisecond},
		"parent":  {nil, func(_ *process, c *caller) { c.cancel() }, context.Canceled, 0},
		"release": {nil, func(p *process, c *caller) { c.release() }, lock.ErrReleased, 0},
		"close":   {nil, func(p *process, _ *caller) { _ = p.locker.Close() }, lock.ErrClosed, 0},
		"no quorum": {nil, func(p *process, _ *caller) { p.nodes.NoQuorum() }, lock.ErrLost,
			lock.DefaultTTL - engine.Drift(lock.DefaultTTL) - 2*time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			inProcess(t, func(p *process) {
				holder, waiting := p.queue(options{lock.MaxHold(20 * time.Millisecond)}, c.waiter)
				time.Sleep(2 * time.Millisecond)
				holder.release()
				lease, began := waiting[0].served(), time.Now()
				holder.cancel()
				if err := holder.lease.Release(p.t.Context()); err != nil {
					t.Errorf("a second release: %v", err)
				}
				if err := holder.lease.Extend(p.t.Context()); !errors.Is(err, lock.ErrReleased) {
					t.Errorf("an extend after it: %v", err)
				}
				if c.after == 0 {
					time.Sleep(2 * lock.DefaultTTL)
					began = time.Now()
				}
				if cause := context.Cause(lease.Context()); cause != nil || !p.isHeld() {
					t.Fatalf("ended with %v", cause)
				}
				c.end(p, waiting[0])
				<-lease.Context().Done()
				if cause, took := context.Cause(lease.Context()), time.Since(began); !errors.Is(cause, c.cause) ||
					took != c.after {
					t.Errorf("ended with %v after %v, want %v after %v", cause, took, c.cause, c.after)
				}
			})
		})
	}
}

// TestEndedLeasePassesTheTurn, even if nobody releases it.
func TestEndedLeasePassesTheTurn(t *testing.T) {
	for name, end := range map[string]func(*process, lock.Lease){"loss": lose, "MaxHold": after(2 * time.Millisecond)} {
		t.Run(name, func(t *testing.T) {
			inProcess(t, func(p *process) {
				holder, waiting := p.queue(options{lock.MaxHold(2 * time.Millisecond)}, nil)
				before := p.attempts.read()
				end(p, holder.lease)
				synctest.Wait()
				if p.attempts.read() == before {
					t.Error("the next caller does not contend")
				}
				<-waiting[0].done
				waiting[0].release()
			})
		})
	}
}

// TestSuspendedHostHandsNothingOver: the host wakes after the window for hand-overs, or after the end of validity, and
// no timer has fired yet.
func TestSuspendedHostHandsNothingOver(t *testing.T) {
	for _, slept := range []time.Duration{20 * time.Millisecond, time.Hour} {
		var suspended atomic.Int64
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			p := &process{t: t, nodes: memlock.NewNodes(3)}
			p.locker = p.another(engine.WithClock(func() time.Duration {
				return time.Since(began) +
					time.Duration(suspended.Load())
			}))
			holder, waiting := p.queue(nil, nil)
			suspended.Store(int64(slept))
			_ = holder.lease.Release(p.t.Context())
			time.Sleep(afterNamedInVain)
			waiting[0].served()
			if waiting[0].end.HandedOver {
				t.Errorf("handed over after %v", slept)
			}
			waiting[0].release()
		})
	}
}

// TestOthersAreToldOfTheHolder: within 5 ms plus the round trip to the nodes, refused callers learn the current lease
// and not the previous one.
func TestOthersAreToldOfTheHolder(t *testing.T) {
	inProcess(t, func(p *process) {
		holder, waiting := p.queue(nil, nil)
		time.Sleep(8 * time.Millisecond)
		holder.release()
		waiting[0].served()
		since := time.Now()
		other, extends := p.another(), p.extends.read()
		told := func() time.Time {
			_, err := other.Acquire(p.t.Context(), "job", lock.NoWait())
			held, ok := errors.AsType[*lock.HeldError](err)
			if !ok {
				t.Fatal(err)
			}
			return held.Holder.Since
		}
		if got := told(); !got.Before(since) {
			t.Errorf("since %v at once", got)
		}
		time.Sleep(6 * time.Millisecond)
		synctest.Wait()
		if got := told(); !got.Equal(since.Truncate(time.Millisecond)) {
			t.Errorf("since %v, want %v", got, since)
		}
		if p.extends.read()-extends != len(p.nodes) {
			t.Errorf("%d extends for it", p.extends.read()-extends)
		}
		waiting[0].release()
	})
}

// TestManyCallersHandOver is for the race detector: leases exclude one another and fences increase while callers give
// up, extend, hold longer or ask for another TTL.
func TestManyCallersHandOver(t *testing.T) {
	p := &process{t: t, nodes: memlock.NewNodes(3)}
	p.locker = p.another()
	const callers, each = 16, 200
	var inside atomic.Int32
	var handed, gaveUp atomic.Int64
	var last uint64 // guarded by the lock
	ctx := locktrace.With(t.Context(), &locktrace.Trace{ReleaseEnd: func(_ context.Context, e locktrace.ReleaseEnd) {
		if e.HandedOver {
			handed.Add(1)
		}
	}})
	var all sync.WaitGroup
	for w := range callers {
		all.Go(func() {
			for i := range each {
				var opts options
				wait, cancel := context.WithCancel(ctx)
				switch (w + i) % 23 {
				case 0:
					opts = options{lock.TTL(9 * time.Second)}
				case 1:
					opts = options{lock.Fair()}
				case 2, 3, 4:
					time.AfterFunc(time.Duration(i)*time.Microsecond, cancel)
				}
				lease, err := p.locker.Acquire(wait, "job", opts...)
				if err != nil {
					gaveUp.Add(1)
					cancel()
					continue
				}
				if n := inside.Add(1); n != 1 || lease.Fence() <= last {
					t.Errorf("%d at once, fence %d after %d", n, lease.Fence(), last)
				}
				last = lease.Fence()
				if (w+i)%11 == 0 {
					_ = lease.Extend(ctx)
				}
				inside.Add(-1)
				if err := lease.Release(ctx); err != nil {
					t.Error(err)
				}
				cancel()
			}
		})
	}
	all.Wait()
	t.Logf("%d of %d handed over, %d gave up", handed.Load(), callers*each, gaveUp.Load())
	if handed.Load() < callers*each/4 || gaveUp.Load() == 0 {
		t.Error("it tests something else")
	}
}
