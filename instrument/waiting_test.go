package instrument_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/memlock"
)

// endless returns when its caller's context ends, and then with the result it was given.
type endless struct{ end func(error) }

func (e endless) Acquire(ctx context.Context, _ string, _ ...lock.AcquireOption) (lock.Lease, error) {
	<-ctx.Done()
	if e.end != nil {
		e.end(ctx.Err())
	}
	return nil, ctx.Err()
}

// wantWaits compares the gauges of a resource's current waits.
func wantWaits(t *testing.T, l prometheus.Collector, resource string, since time.Time, calls, late float64,
	more ...string,
) {
	t.Helper()
	began := 0.0
	if !since.IsZero() {
		began = float64(since.UnixMicro()) / 1e6
	}
	for name, want := range map[string]float64{
		"waiting": calls, "waiting_above_objective": late, "waiting_since_timestamp_seconds": began,
	} {
		if got := gather(t, l, name, append([]string{"resource", resource}, more...)...); math.Abs(got-want) > 1e-4 {
			t.Errorf("%s of %s is %v, want %v", name, resource, got, want)
		}
	}
}

// TestWaitsUnderWay counts calls that have not returned, of any caller and with any end.
func TestWaitsUnderWay(t *testing.T) {
	for name, end := range map[string]func(error){
		"returns": nil, "panics": func(err error) { panic(err) },
		"ends its goroutine": func(error) { runtime.Goexit() },
	} {
		t.Run(name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { testWaitsUnderWay(t, end) }) })
	}
}

func testWaitsUnderWay(t *testing.T, end func(error)) {
	l := wrap(t, endless{end}, instrument.WithWaitObjective(time.Second), instrument.WithLabels("tier"))
	var calls sync.WaitGroup
	call := func(resource, tier string, lasts time.Duration, opts ...lock.AcquireOption) {
		calls.Go(func() {
			defer func() { _ = recover() }()
			ctx, cancel := context.WithTimeout(instrument.ContextWithLabel(t.Context(), "tier", tier), lasts)
			defer cancel()
			_, _ = l.Acquire(ctx, resource, opts...)
		})
		synctest.Wait()
	}
	first := time.Now()
	call("a", "", 3*time.Second)
	time.Sleep(500 * time.Millisecond)
	second := time.Now()
	call("a", "", 3*time.Second, lock.MaxWait(time.Minute))
	call("b", "", 2*time.Second, lock.NoWait())
	call("c", "gold", 2*time.Second)
	wantWaits(t, l, "a", first, 2, 0, "tier", "")
	time.Sleep(501 * time.Millisecond)
	wantWaits(t, l, "a", first, 2, 1, "tier", "")
	wantWaits(t, l, "b", second, 1, 0, "tier", "")
	time.Sleep(500 * time.Millisecond)
	wantWaits(t, l, "a", first, 2, 2, "tier", "")
	wantWaits(t, l, "b", second, 1, 1, "tier", "")
	if got := gather(t, l, "waiting_above_objective", "resource", "c", "tier", "gold"); got != 1 {
		t.Errorf("%v calls of a variant wait above the objective", got)
	}
	if got := gather(t, l, "waiting_without_quorum", "resource", "a", "tier", ""); got != 0 {
		t.Errorf("%v calls without a quorum on a Locker that does not say so", got)
	}
	time.Sleep(1500 * time.Millisecond)
	synctest.Wait()
	wantWaits(t, l, "a", second, 1, 1, "tier", "") // the first has ended
	calls.Wait()
	for _, resource := range []string{"a", "b"} {
		wantWaits(t, l, resource, time.Time{}, 0, 0, "tier", "")
	}
}

// TestSeriesOfAPanicAreLetGo: a call that panicked must not count as under way forever.
func TestSeriesOfAPanicAreLetGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := wrap(t, endless{func(err error) { panic(err) }}, instrument.WithIdleResources(time.Minute))
		func() {
			defer func() { _ = recover() }()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, _ = l.Acquire(ctx, "a")
		}()
		time.Sleep(2 * time.Minute)
		for _, f := range families(t, l) {
			if f.GetName() == "distributed_lock_waiting" {
				t.Errorf("still there: %v", f)
			}
		}
	})
}

// TestWaitsWithoutQuorum distinguishes an outage from a held lock, on real servers.
func TestWaitsWithoutQuorum(t *testing.T) {
	restart := func(s *redisproc.Server) error { return s.Restart(t.Context()) }
	for name, outage := range map[string]struct{ fail, heal func(*redisproc.Server) error }{
		"dead": {(*redisproc.Server).Kill, restart},
		"hung": {(*redisproc.Server).Pause, (*redisproc.Server).Resume},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			servers := locktest.Servers(t, 3)
			l := wrap(t, onRedis(t, addrs(servers)), instrument.WithWaitObjective(time.Millisecond))
			held, err := l.Acquire(t.Context(), "job")
			must(t, err)
			ctx, cancel := context.WithCancel(t.Context())
			var calls sync.WaitGroup
			defer calls.Wait()
			defer cancel()
			wait := func(resource string) {
				calls.Go(func() {
					if lease, err := l.Acquire(ctx, resource); err == nil {
						_ = lease.Release(context.WithoutCancel(ctx))
					} else if !errors.Is(err, context.Canceled) {
						t.Error(err)
					}
				})
			}
			for range 3 {
				wait("job")
			}
			gauge := func(name, resource string) float64 { return gather(t, l, name, "resource", resource) }
			eventually(t, "three wait for the holder",
				func() bool { return gauge("waiting_above_objective", "job") == 3 })
			if got := gauge("waiting_without_quorum", "job"); got != 0 {
				t.Errorf("%v of three who wait for a holder lack a quorum", got)
			}
			for _, s := range servers[:2] {
				must(t, outage.fail(s))
			}
			for range 3 {
				wait("other")
			}
			eventually(t, "two of three nodes are gone",
				func() bool { return gauge("waiting_without_quorum", "other") == 3 })
			for _, s := range servers[:2] {
				must(t, outage.heal(s))
			}
			eventually(t, "all is well", func() bool {
				return gauge("waiting", "other") == 0 && gauge("waiting_without_quorum", "other") == 0
			})
			_ = held.Release(t.Context())
		})
	}
}

// TestOnlyCallsBehindOneWithoutQuorumCount, whatever labels the calls have. Calls behind a holder, or on other nodes,
// do not count.
func TestOnlyCallsBehindOneWithoutQuorumCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := []instrument.Option{instrument.WithRegisterer(prometheus.NewRegistry()), instrument.WithLabels("tier")}
		down, up := memlock.NewNodes(3), memlock.NewNodes(3)
		_, first := onNodes(t, down, "a")
		_, second := onNodes(t, up, "b")
		l, other := wrap(t, first, opts...), wrap(t, second, opts...)
		ctx, cancel := context.WithCancel(t.Context())
		var calls sync.WaitGroup
		wait := func(l lock.Locker, resource, tier string, n int) {
			for range n {
				calls.Go(func() { _, _ = l.Acquire(instrument.ContextWithLabel(ctx, "tier", tier), resource) })
				synctest.Wait()
			}
		}
		for resource, tier := range map[string]string{"order:1001": "free", "job": "gold"} {
			held, err := other.Acquire(t.Context(), resource)
			must(t, err)
			defer func() { must(t, held.Release(t.Context())) }()
			wait(other, resource, tier, 3)
		}
		down.NoQuorum()
		wait(l, "order:1002", "free", 1)
		wait(l, "job", "gold", 1)
		wait(l, "job", "free", 4)
		time.Sleep(10 * time.Second)
		for _, c := range []struct {
			resource, tier string
			want           float64
		}{{"order:*", "free", 1}, {"job", "gold", 1}, {"job", "free", 4}} {
			got := gather(t, l, "waiting_without_quorum", "resource", c.resource, "tier", c.tier)
			if got != c.want {
				t.Errorf("%v calls of tier %s for %s have no quorum, want %v", got, c.tier, c.resource, c.want)
			}
		}
		cancel()
		calls.Wait()
		down.Recover()
	})
}

// TestBehindAStalledCallOfAnotherDecorator: the engine has one line for all decorators, and the call in front asks the
// nodes for each of them.
func TestBehindAStalledCallOfAnotherDecorator(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := memlock.NewNodes(3)
		engine, err := memlock.New(nodes)
		must(t, err)
		defer func() { must(t, engine.Close()) }()
		nodes.NoQuorum()
		reg := prometheus.NewRegistry()
		var calls sync.WaitGroup
		defer calls.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for range 2 {
			l := wrap(t, engine, instrument.WithRegisterer(reg), instrument.WithWaitObjective(time.Second))
			calls.Go(func() { _, _ = l.Acquire(ctx, "job") })
			synctest.Wait()
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := gather(t, reg, "waiting_without_quorum", "resource", "job"); got != 2 {
			t.Errorf("%v calls without a quorum, want the stalled one and the one behind it", got)
		}
	})
}
