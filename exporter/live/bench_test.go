package live_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	noopTrace "go.opentelemetry.io/otel/trace/noop"

	"github.com/lockscope/lockscope/exporter/live"
	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/memlock"
)

// stacks are the decorators that are measured, around one Locker.
func stacks(tb testing.TB, next func() lock.Locker) []struct {
	name   string
	locker lock.Locker
} {
	metrics := func(next lock.Locker) lock.Locker {
		l, err := instrument.Wrap(next, instrument.WithRegisterer(prometheus.NewRegistry()),
			instrument.WithTracerProvider(noopTrace.NewTracerProvider()))
		must(tb, err)
		return l
	}
	return []struct {
		name   string
		locker lock.Locker
	}{
		{"bare", next()},
		{"board", wrap(tb, newBoard(tb), next())},
		{"board without steps", wrap(tb, newBoard(tb, live.WithSlowest(0)), next())},
		{"instrument", metrics(next())},
		{"instrument and board", metrics(wrap(tb, newBoard(tb), next()))},
		{"board and instrument", wrap(tb, newBoard(tb), metrics(next()))},
	}
}

// BenchmarkNoop measures the decorator alone: an acquire and release on a Locker that does nothing and has no events.
func BenchmarkNoop(b *testing.B) {
	for _, s := range stacks(b, func() lock.Locker { return &noop{} }) {
		b.Run(s.name, func(b *testing.B) { benchPairs(b, s.locker) })
	}
}

// BenchmarkInstant measures the hooks: an acquire and release on a Redlock whose three nodes answer at once.
func BenchmarkInstant(b *testing.B) {
	for _, s := range stacks(b, func() lock.Locker { return instantRedlock(b) }) {
		b.Run(s.name, func(b *testing.B) { benchPairs(b, s.locker) })
	}
}

// BenchmarkRedis does the same on real servers, each stack in turns with a bare Locker, and reports the ratio of the
// medians.
func BenchmarkRedis(b *testing.B) {
	for _, n := range []int{1, 3} {
		servers := locktest.Servers(b, n)
		bare := onRedis(b, servers)
		for _, s := range stacks(b, func() lock.Locker { return onRedis(b, servers) })[1:] {
			b.Run(fmt.Sprintf("nodes=%d/%s", n, s.name), func(b *testing.B) {
				var times [2][]time.Duration
				for i := 0; b.Loop(); i++ {
					for j := range 2 { // which one goes first alternates, too
						which := (i + j) % 2
						began := time.Now()
						pair(b, b.Context(), [2]lock.Locker{bare, s.locker}[which])
						times[which] = append(times[which], time.Since(began))
					}
				}
				slices.Sort(times[0])
				slices.Sort(times[1])
				b.ReportMetric(float64(times[1][len(times[1])/2])/float64(times[0][len(times[0])/2]), "p50-x")
			})
		}
	}
}

func benchPairs(b *testing.B, l lock.Locker) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	b.ReportAllocs()
	for b.Loop() {
		pair(b, ctx, l)
	}
}

// BenchmarkParallel records on all processors at the same time.
func BenchmarkParallel(b *testing.B) {
	for _, s := range stacks(b, func() lock.Locker { return &noop{} })[:2] {
		b.Run(s.name, func(b *testing.B) {
			b.RunParallel(func(pb *testing.PB) {
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				for pb.Next() {
					pair(b, ctx, s.locker)
				}
			})
		})
	}
}

// BenchmarkContended has eight callers who hand one lock to each other: each acquisition is a wait.
func BenchmarkContended(b *testing.B) {
	for _, s := range stacks(b, func() lock.Locker { return instantRedlock(b) })[:2] {
		b.Run(s.name, func(b *testing.B) {
			b.SetParallelism(4)
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				for pb.Next() {
					pair(b, ctx, s.locker)
				}
			})
		})
	}
}

// BenchmarkState reads a Board with ten thousand held locks.
func BenchmarkState(b *testing.B) {
	board := newBoard(b)
	l := wrap(b, board, &noop{})
	for i := range 10_000 {
		acquire(b, l, resourceName(i))
	}
	b.ReportAllocs()
	for b.Loop() {
		if s := board.State(b.Context()); s.Omitted.Held == 0 {
			b.Fatal("nothing is held")
		}
	}
}

// BenchmarkCrowd reads a Board with two thousand waiting callers.
func BenchmarkCrowd(b *testing.B) {
	board := newBoard(b)
	engine, err := memlock.New(memlock.NewNodes(3))
	must(b, err)
	l := wrap(b, board, engine)
	holder := acquire(b, l, "job")
	ctx, cancel := context.WithCancel(context.Background())
	var waiting sync.WaitGroup
	for range 2000 {
		waiting.Go(func() { _, _ = l.Acquire(ctx, "job") })
	}
	eventually(b, "all wait", func() bool { return board.State(ctx).Totals.Waiting == 2000 })
	b.ReportAllocs()
	for b.Loop() {
		board.State(ctx)
	}
	cancel()
	waiting.Wait()
	must(b, holder.Release(context.Background()))
	must(b, engine.Close())
}

// TestCost limits the Board to eight allocations per acquire and release.
func TestCost(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	all := stacks(t, func() lock.Locker { return &noop{} })
	allocs := func(i int) float64 {
		return testing.AllocsPerRun(1000, func() { pair(t, ctx, all[i].locker) })
	}
	const limit = 8
	if bare, recorded := allocs(0), allocs(1); recorded-bare > limit {
		t.Errorf("%v allocations more than %v, want %v at most", recorded-bare, bare, limit)
	}
}

func pair(tb testing.TB, ctx context.Context, l lock.Locker) {
	lease, err := l.Acquire(ctx, "order:1001")
	if err != nil {
		tb.Fatal(err)
	}
	if err := lease.Release(ctx); err != nil {
		tb.Fatal(err)
	}
}

// instantRedlock is a Redlock without servers.
func instantRedlock(tb testing.TB) lock.Locker {
	r, err := engine.NewEngine([]driver.Node{engine.Async(&instant{name: "a"}), engine.Async(&instant{name: "b"}),
		engine.Async(&instant{name: "c"})})
	must(tb, err)
	tb.Cleanup(func() { must(tb, r.Close()) })
	return r
}

// instant is a node that grants everything, or fails.
type instant struct {
	driver.BlockingLockOnly
	name    string
	err     error
	counter atomic.Uint64
}

func (n *instant) Name() string { return n.name }

func (n *instant) System() string { return "instant" }

func (n *instant) Acquire(_ context.Context, req driver.AcquireRequest) (driver.AcquireReply, error) {
	if n.err != nil {
		return driver.AcquireReply{}, n.err
	}
	return driver.AcquireReply{Granted: true, Counter: max(n.counter.Add(1), req.Floor)}, nil
}
func (n *instant) Raise(context.Context, driver.RaiseRequest) (bool, error) { return true, nil }
func (n *instant) Extend(context.Context, driver.ExtendRequest) (driver.ExtendReply, error) {
	return driver.ExtendDone, nil
}
func (n *instant) Release(context.Context, driver.ReleaseRequest) (driver.ReleaseReply, error) {
	return driver.ReleaseReply{Found: driver.FoundOwn}, nil
}
func (n *instant) Leave(context.Context, driver.LeaveRequest) error { return nil }
func (n *instant) Subscribe(ctx context.Context, _ string, _ func(string)) error {
	return nil
}
func (n *instant) Close() error { return nil }

// BenchmarkSample is one sample of the history of waits with a thousand callers waiting: for one resource, and for a
// hundred whose holder is in another process.
func BenchmarkSample(b *testing.B) {
	for _, resources := range []int{1, 100} {
		b.Run(fmt.Sprintf("resources=%d", resources), func(b *testing.B) {
			nodes := memlock.NewNodes(3)
			there, err := memlock.New(nodes, lock.WithInstance("billing/2"))
			must(b, err)
			engine, err := memlock.New(nodes, lock.WithInstance("orders/1"), lock.WithCallSites())
			must(b, err)
			board := newBoard(b, live.WithInstance("orders/1"))
			l := wrap(b, board, engine)
			ctx, cancel := context.WithCancel(context.Background())
			var waiting sync.WaitGroup
			for i := range 1000 {
				if i < resources {
					acquire(b, there, resourceName(i))
				}
				waiting.Go(func() { _, _ = l.Acquire(ctx, resourceName(i%resources)) })
			}
			eventually(b, "all wait", func() bool { return board.State(ctx).Totals.Waiting == 1000 })
			b.ReportAllocs()
			for b.Loop() {
				live.Sample(board, time.Now())
			}
			cancel()
			waiting.Wait()
			must(b, engine.Close())
			must(b, there.Close())
		})
	}
}
