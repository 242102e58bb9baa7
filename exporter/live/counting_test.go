package live_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/live"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/memlock"
)

// crowd makes n callers of the lockers wait for one resource until the test ends.
func crowd(t *testing.T, n int, lockers ...lock.Locker) (disperse func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	for i := range n {
		waiting.Go(func() { _, _ = lockers[i%len(lockers)].Acquire(ctx, "job") })
	}
	return func() {
		cancel()
		waiting.Wait()
	}
}

// wantCounted requires the same number everywhere in a State.
func wantCounted(t *testing.T, s state.State, n int, holder string) {
	t.Helper()
	if len(s.Blocked) != 1 {
		t.Fatalf("blocked: %+v", s.Blocked)
	}
	row, listed := s.Blocked[0], live.DefaultMaxShown/4
	if s.Totals.Waiting != n || s.Totals.Attempting != 0 || s.Totals.Contended != 1 || row.Waiting != n {
		t.Errorf("%d wait; the totals are %+v, the row says %d", n, s.Totals, row.Waiting)
	}
	if row.Listed != listed || len(s.Waiting) != listed || s.Omitted.Waiting != n-listed {
		t.Errorf("%d listed of %d, omitted %d, said to be %d", len(s.Waiting), n, s.Omitted.Waiting, row.Listed)
	}
	if row.Holder == nil || row.Holder.Holder != holder || row.Holder.Age == nil {
		t.Errorf("held by %+v", row.Holder)
	}
	for _, h := range s.Held {
		if h.Waiters != n {
			t.Errorf("the lease has %d waiters: %+v", h.Waiters, h)
		}
	}
	for _, w := range s.Waiting {
		if w.Blocker == nil || w.Blocker.Holder != holder {
			t.Fatalf("waiter %+v, blocked by %+v", w, w.Blocker)
		}
	}
}

// TestCrowd has more callers wait for a minute than are listed. All of them are counted, and their waits count as slow
// before they end.
func TestCrowd(t *testing.T) {
	for _, n := range []int{1000, 2000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				nodes := memlock.NewNodes(3)
				board := newBoard(t, live.WithInstance("orders/1"))
				var lockers []lock.Locker
				for _, instance := range []string{"orders/1", "orders/1", "billing/2"} {
					engine, err := memlock.New(nodes, lock.WithInstance(instance))
					must(t, err)
					defer func() { must(t, engine.Close()) }()
					lockers = append(lockers, wrap(t, board, engine, live.WithLockerInstance(instance)))
				}
				for range 10 {
					must(t, acquire(t, lockers[0], "quick").Release(t.Context()))
				}
				holder := acquire(t, lockers[2], "job")
				disperse := crowd(t, n, lockers...)
				settle(time.Minute)
				s := stateOf(board)
				wantCounted(t, s, n, "billing/2")
				if r := s.Totals.Recent; !near(s.Totals.Longest, 60) || !near(s.Blocked[0].Longest, 60) || r.P50 < 56 ||
					r.P99 < 56 {
					t.Errorf("after a minute the longest wait is %v, and of the last minute it says %+v",
						s.Totals.Longest, r)
				}
				disperse()
				settle(time.Second)
				if r := stateOf(board).Totals.Recent; r.Failed != n || r.Ended < n {
					t.Errorf("all have given up: %+v", r)
				}
				must(t, holder.Release(t.Context()))
			})
		})
	}
}

// TestCrowdOnRedis does that on real servers, also with one of three dead or hung.
func TestCrowdOnRedis(t *testing.T) {
	for name, fault := range map[string]func(*redisproc.Server) error{
		"healthy":       func(*redisproc.Server) error { return nil },
		"one node dead": (*redisproc.Server).Kill,
		"one node hung": (*redisproc.Server).Pause,
	} {
		t.Run(name, func(t *testing.T) {
			servers := locktest.Servers(t, 3)
			board := newBoard(t)
			var lockers []lock.Locker
			for i := range 4 {
				instance := fmt.Sprintf("orders/%d", i)
				lockers = append(lockers, wrap(t, board, onRedis(t, servers, lock.WithInstance(instance)),
					live.WithLockerInstance(instance)))
			}
			elsewhere := onRedis(t, servers, lock.WithInstance("billing/7"))
			must(t, fault(servers[2]))
			holder := acquire(t, elsewhere, "job", lock.TTL(time.Minute))
			const n = 1000
			defer crowd(t, n, lockers...)()
			eventually(t, "all wait for the holder", func() bool {
				s := stateOf(board)
				known := len(s.Blocked) == 1 && s.Blocked[0].Waiting == n && s.Blocked[0].Failing == 0
				for _, w := range s.Waiting {
					known = known && w.Blocker != nil
				}
				return known
			})
			wantCounted(t, stateOf(board), n, "billing/7")
			_ = servers[2].Resume() // a server that was killed cannot be resumed
			must(t, holder.Release(t.Context()))
		})
	}
}

// TestFewOfEach lists callers of every resource, however many wait for another one.
func TestFewOfEach(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		board := newBoard(t, live.WithMaxShown(20))
		engine, err := memlock.New(memlock.NewNodes(1))
		must(t, err)
		defer func() { must(t, engine.Close()) }()
		l := wrap(t, board, engine)
		ctx, cancel := context.WithCancel(t.Context())
		var waiting sync.WaitGroup
		var leases []lock.Lease
		for i, n := range []int{100, 3, 2} {
			leases = append(leases, acquire(t, l, resourceName(i)))
			for range n {
				waiting.Go(func() { _, _ = l.Acquire(ctx, resourceName(i)) })
			}
			settle(time.Second)
		}
		s := stateOf(board)
		for i, want := range []state.Blocked{{Waiting: 100, Listed: 15}, {Waiting: 3, Listed: 3},
			{Waiting: 2, Listed: 2}} {
			if got := s.Blocked[i]; got.Resource != resourceName(i) || got.Waiting != want.Waiting ||
				got.Listed != want.Listed {
				t.Errorf("row %d: %+v, want %+v", i, got, want)
			}
		}
		if len(s.Waiting) != 20 || s.Omitted.Waiting != 85 || s.Totals.Waiting != 105 {
			t.Errorf("%d listed, %d omitted, %+v", len(s.Waiting), s.Omitted.Waiting, s.Totals)
		}
		cancel()
		waiting.Wait()
		for _, lease := range leases {
			must(t, lease.Release(t.Context()))
		}
	})
}
