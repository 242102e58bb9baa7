package instrument_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/lock/memlock"
)

// onNodes is a measured locker in memory.
func onNodes(t *testing.T, nodes memlock.Nodes, instance string) (*instrument.Locker, *memlock.Locker) {
	l, err := memlock.New(nodes, lock.WithInstance(instance), lock.WithCallSites())
	must(t, err)
	t.Cleanup(func() { must(t, l.Close()) })
	return wrap(t, l), l
}

// inflicted is the time that a process has waited behind an instance, over all resources and call sites.
func inflicted(t *testing.T, l prometheus.Collector, holder string) (seconds float64) {
	for _, s := range inflictedBySite(t, l, holder) {
		seconds += s
	}
	return seconds
}

// inflictedBySite has one number for each call site and resource.
func inflictedBySite(t *testing.T, l prometheus.Collector, holder string) (seconds []float64) {
	for _, f := range families(t, l) {
		if f.GetName() != "distributed_lock_inflicted_wait_seconds_total" {
			continue
		}
		for _, m := range f.Metric {
			for _, label := range m.Label {
				if label.GetName() == "holder" && label.GetValue() == holder {
					seconds = append(seconds, m.Counter.GetValue())
				}
			}
		}
	}
	return seconds
}

func wantSeconds(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > .1 {
		t.Errorf("%s: %.3f s, want %.3f s", what, got, want)
	}
}

func class(t *testing.T, l prometheus.Collector, resource string, of locktrace.Wait) float64 {
	return gather(t, l, "wait_class_seconds_total", "resource", resource, "class", string(of))
}

// TestHoldersAreCharged: one in another process, then a lease of the same process, while the calls still wait.
func TestHoldersAreCharged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := memlock.NewNodes(3)
		_, billing := onNodes(t, nodes, "billing/1")
		l, _ := onNodes(t, nodes, "orders/1")
		held, err := billing.Acquire(t.Context(), "job")
		must(t, err)
		leases := make(chan lock.Lease, 2)
		for range 2 {
			go func() {
				lease, err := l.Acquire(t.Context(), "job")
				if err != nil {
					t.Error(err)
				}
				leases <- lease
			}()
			synctest.Wait()
		}
		time.Sleep(10 * time.Second)
		wantSeconds(t, "two calls behind billing/1", inflicted(t, l, "billing/1"), 20)
		wantSeconds(t, "of class holder", class(t, l, "job", locktrace.WaitHolder), 20)
		must(t, held.Release(t.Context()))
		first := <-leases
		time.Sleep(5 * time.Second)
		wantSeconds(t, "behind billing/1 after its release", inflicted(t, l, "billing/1"), 20)
		wantSeconds(t, "one call behind the other's lease", inflicted(t, l, "orders/1"), 5)
		must(t, first.Release(t.Context()))
		must(t, (<-leases).Release(t.Context()))
		wantSeconds(t, "in all", class(t, l, "job", locktrace.WaitHolder), 25)
		time.Sleep(2 * time.Hour)
		if got := inflicted(t, l, "billing/1") + inflicted(t, l, "orders/1"); got != 0 {
			t.Errorf("%v s are still charged to holders for whom nobody waits", got)
		}
	})
}

// TestSuccessiveHoldersAreCharged: a call waits behind a holder in another process, then behind two other calls of its
// own, which waited in front of it. Each is charged with its own part, though nobody collects meanwhile.
func TestSuccessiveHoldersAreCharged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := memlock.NewNodes(3)
		_, billing := onNodes(t, nodes, "billing/1")
		l, _ := onNodes(t, nodes, "orders/1")
		held, err := billing.Acquire(t.Context(), "job")
		must(t, err)
		var done sync.WaitGroup
		hold := func(d time.Duration) func(context.Context, lock.Lease) error {
			return func(context.Context, lock.Lease) error { time.Sleep(d); return nil }
		}
		for _, call := range []func() error{
			func() error { return lock.Do(t.Context(), l, "job", hold(5*time.Second)) },
			func() error { return lock.Do(t.Context(), l, "job", hold(3*time.Second)) },
			func() error { return lock.Do(t.Context(), l, "job", hold(0)) },
		} {
			done.Go(func() { must(t, call()) })
			synctest.Wait()
		}
		time.Sleep(10 * time.Second)
		must(t, held.Release(t.Context()))
		done.Wait()
		wantSeconds(t, "three calls behind billing/1", inflicted(t, l, "billing/1"), 30)
		wantSeconds(t, "two calls behind the first of orders/1, one behind the second", inflicted(t, l, "orders/1"), 13)
		sites := inflictedBySite(t, l, "orders/1")
		slices.Sort(sites)
		if len(sites) != 2 || math.Abs(sites[0]-3) > .1 || math.Abs(sites[1]-10) > .1 {
			t.Errorf("inflicted by the call sites of orders/1: %v, want 3 s and 10 s", sites)
		}
		wantSeconds(t, "of class holder", class(t, l, "job", locktrace.WaitHolder), 43)
	})
}

// keeps is a node that keeps the lock for another waiter until a time.
type keeps struct {
	driver.BlockingNode
	until time.Time
}

func (n keeps) Acquire(ctx context.Context, req driver.AcquireRequest) (driver.AcquireReply, error) {
	if left := time.Until(n.until); left > 0 {
		return driver.AcquireReply{Reserved: true, TTL: left}, nil
	}
	return n.BlockingNode.Acquire(ctx, req)
}

// TestHandOverIsNoHolder: nobody holds a lock that is kept for the next waiter. That time has a row of its own.
func TestHandOverIsNoHolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := locktest.NewFakeServer("node1")
		t.Cleanup(s.Close)
		node := keeps{s.Connect(1, locktest.Faults{}), time.Now().Add(5 * time.Second)}
		engine, err := engine.NewEngine([]driver.Node{engine.Async(node)})
		must(t, err)
		defer func() { must(t, engine.Close()) }()
		l := wrap(t, engine)
		lease, err := l.Acquire(t.Context(), "job")
		must(t, err)
		must(t, lease.Release(t.Context()))
		wantSeconds(t, "being handed over", inflicted(t, l, "being handed over"), 5)
		wantSeconds(t, "behind an unknown holder", inflicted(t, l, "unknown"), 0)
	})
}

// hangingNodes are nodes of servers in memory.
func hangingNodes(t *testing.T, n int) (servers []*locktest.FakeServer, nodes []driver.Node) {
	for i := range n {
		s := locktest.NewFakeServer(fmt.Sprintf("node%d", i+1))
		t.Cleanup(s.Close)
		servers, nodes = append(servers, s), append(nodes, engine.Async(s.Connect(uint64(i), locktest.Faults{})))
	}
	return servers, nodes
}

// TestOutageIsNobodysFault: with two of three nodes gone, calls are of class no_quorum at once, those behind another
// call of the process and those whose attempts hang included; whoever held the lock before is not charged.
func TestOutageIsNobodysFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		servers, nodes := hangingNodes(t, 3)
		engine, err := engine.NewEngine(nodes, lock.WithNodeTimeout(500*time.Millisecond))
		must(t, err)
		defer func() { must(t, engine.Close()) }()
		l := wrap(t, engine)
		holder, err := l.Acquire(t.Context(), "job")
		must(t, err)
		must(t, holder.Release(t.Context()))
		servers[0].Pause()
		servers[1].Pause()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		done := make(chan error)
		for range 2 {
			go func() {
				_, err := l.Acquire(ctx, "job")
				done <- err
			}()
		}
		time.Sleep(30 * time.Second)
		if got := class(t, l, "job", locktrace.WaitNoQuorum); got < 57 {
			t.Errorf("%.1f of 60 s are of class no_quorum before the calls have returned", got)
		}
		for range 2 {
			if err := <-done; !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		}
		got := class(t, l, "job", locktrace.WaitNoQuorum)
		all := got + class(t, l, "job", locktrace.WaitNetwork) + class(t, l, "job", locktrace.WaitHolder)
		wantSeconds(t, "all classes together", all, 120)
		if got < 117 {
			t.Errorf("%.1f of 120 s are of class no_quorum", got)
		}
		servers[0].Resume()
		servers[1].Resume()
	})
}

// TestUseOfLeases counts what gives up the promise of a lock, and nothing else.
func TestUseOfLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, engine := onNodes(t, memlock.NewNodes(3), "orders/1")
		use := func(resource string, work func(lock.Lease), opts ...lock.AcquireOption) {
			lease, err := l.Acquire(t.Context(), resource, opts...)
			must(t, err)
			work(lease)
			if err := lease.Release(t.Context()); err != nil && !errors.Is(err, lock.ErrNotHeld) &&
				!errors.Is(err, lock.ErrLost) && !errors.Is(err, lock.ErrMaxHold) {
				t.Error(err)
			}
			_ = lease.Release(t.Context()) // counts once
		}
		fenced := func(lease lock.Lease) { lease.Fence() }
		use("fenced", fenced)
		use("unfenced", func(lock.Lease) {})
		use("stops", func(lease lock.Lease) {
			must(t, engine.Lose("stops"))
			<-lease.Context().Done()
			time.Sleep(500 * time.Millisecond)
		})
		use("goes on", func(lease lock.Lease) {
			must(t, engine.Lose("goes on"))
			<-lease.Context().Done()
			time.Sleep(2 * time.Second)
		})
		use("holds too long", func(lock.Lease) { time.Sleep(7 * time.Second) }, lock.MaxHold(5*time.Second))
		short := []lock.AcquireOption{lock.NoRenew(), lock.TTL(10 * time.Second)}
		use("close", func(lock.Lease) { time.Sleep(9500 * time.Millisecond) }, short...)
		use("in time", func(lock.Lease) { time.Sleep(5 * time.Second) }, short...)
		use("renewed", func(lock.Lease) { time.Sleep(time.Minute) })
		for name, want := range map[string][]string{
			"outlived_total":    {"goes on", "holds too long"},
			"close_calls_total": {"close"},
			"unfenced_total": {
				"unfenced", "stops", "goes on", "holds too long", "close", "in time", "renewed",
			},
		} {
			counted := make(map[string]float64)
			for _, resource := range want {
				counted[resource] = 1
			}
			for _, resource := range []string{"fenced", "unfenced", "stops", "goes on", "holds too long", "close",
				"in time", "renewed"} {
				if got := gather(t, l, name, "resource", resource); got != counted[resource] {
					t.Errorf("%s of %q: %v, want %v", name, resource, got, counted[resource])
				}
			}
		}
	})
}

// TestEndedLeaseIsNoCloseCall: a lease that Close or lock.MaxHold ended long before its TTL did not almost run out.
func TestEndedLeaseIsNoCloseCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, engine := onNodes(t, memlock.NewNodes(3), "orders/1")
		for _, end := range []func(){func() { time.Sleep(5 * time.Second) }, func() { must(t, engine.Close()) }} {
			lease, err := l.Acquire(t.Context(), "job", lock.NoRenew(), lock.TTL(20*time.Second), lock.MaxHold(5*time.Second))
			must(t, err)
			end()
			<-lease.Context().Done()
			_ = lease.Release(t.Context()) // what the nodes say does not matter here
		}
		if got := gather(t, l, "close_calls_total", "resource", "job"); got != 0 {
			t.Errorf("%v close calls", got)
		}
	})
}
