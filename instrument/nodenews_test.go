package instrument_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
)

// oddNode is a node whose clock is off, or that refuses to vote.
type oddNode struct {
	driver.BlockingNode
	skew  atomic.Int64
	fault atomic.Pointer[error]
}

func (n *oddNode) Acquire(ctx context.Context, req driver.AcquireRequest) (driver.AcquireReply, error) {
	if err := n.fault.Load(); err != nil {
		return driver.AcquireReply{}, *err
	}
	reply, err := n.BlockingNode.Acquire(ctx, req)
	reply.ClockSkew = time.Duration(n.skew.Load())
	return reply, err
}

// TestOddNodesAreLogged once for each change: a clock that is an hour ahead, and an eviction policy.
func TestOddNodesAreLogged(t *testing.T) { synctest.Test(t, testOddNodesAreLogged) }

// withOddNode is a Locker on three nodes, the last of which is odd.
func withOddNode(t *testing.T) (l lock.Locker, odd *oddNode) {
	t.Helper()
	var nodes []driver.Node
	for i := range 3 {
		s := locktest.NewFakeServer(fmt.Sprint("fake", i+1))
		t.Cleanup(s.Close)
		odd = &oddNode{BlockingNode: s.Connect(uint64(i), locktest.Faults{})}
		nodes = append(nodes, engine.Async(odd))
	}
	began := time.Now()
	r, err := engine.NewEngine(nodes, engine.WithClock(func() time.Duration { return time.Since(began) })) // the bubble's
	must(t, err)
	t.Cleanup(func() { must(t, r.Close()) })
	return r, odd
}

func testOddNodesAreLogged(t *testing.T) {
	next, odd := withOddNode(t)
	text := new(logText)
	l := wrap(t, next, instrument.WithLogger(text.logger()))
	use := func() string {
		t.Helper()
		for range 3 {
			lease, err := l.Acquire(t.Context(), "job")
			must(t, err)
			must(t, lease.Release(t.Context()))
			time.Sleep(10 * time.Second) // the slowest node has answered, and the limit would let a record pass
		}
		must(t, l.Flush(t.Context()))
		return text.String()
	}
	if use(); find(t, l, "node_clock_skew_seconds", "lock_node", "fake3", "backend", "redis") != nil {
		t.Error("a node that does not tell its clock has a gauge of it")
	}
	odd.skew.Store(int64(time.Hour))
	got := use()
	if n := strings.Count(got, "node clock is ahead"); n != 1 {
		t.Errorf("an hour ahead is logged %d times:\n%s", n, got)
	}
	wantIn(t, got, "level=WARN", "node=fake3", "by=1h0m0s")
	if skew := gather(t, l, "node_clock_skew_seconds", "lock_node", "fake3", "backend", "redis"); skew != 3600 {
		t.Errorf("the clock is %v s ahead, want 3600", skew)
	}
	odd.skew.Store(int64(-time.Millisecond))
	use()
	odd.skew.Store(int64(-time.Minute))
	if got = use(); strings.Count(got, "node clock is behind") != 1 || strings.Count(got, "node clock is ahead") != 1 {
		t.Errorf("a minute behind:\n%s", got)
	}
	evicting := fmt.Errorf("%w: %w (its maxmemory-policy is allkeys-lru)", driver.ErrNotSent, driver.ErrEvicting)
	odd.fault.Store(&evicting)
	if got = use(); strings.Count(got, "node may evict locks and does not vote") != 1 {
		t.Errorf("an eviction policy:\n%s", got)
	}
	wantIn(t, got, "allkeys-lru")
}

// TestEachLoggerLearnsOfOddNodes, also if a decorator without a logger, on the same registry, meets them first.
func TestEachLoggerLearnsOfOddNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next, odd := withOddNode(t)
		registry, text := instrument.WithRegisterer(prometheus.NewRegistry()), new(logText)
		silent, l := wrap(t, next, registry), wrap(t, next, registry, instrument.WithLogger(text.logger()))
		meet := func() {
			t.Helper()
			for range 3 {
				use(t, silent, "job")
				time.Sleep(10 * time.Second) // the slowest node has answered
				use(t, l, "job")
				time.Sleep(10 * time.Second)
			}
			must(t, l.Flush(t.Context()))
		}
		odd.skew.Store(int64(time.Hour))
		meet()
		evicting := fmt.Errorf("%w: %w", driver.ErrNotSent, driver.ErrEvicting)
		odd.fault.Store(&evicting)
		meet()
		for _, msg := range []string{"node clock is ahead", "node may evict locks and does not vote"} {
			if n := strings.Count(text.String(), msg); n != 1 {
				t.Errorf("%q is logged %d times", msg, n)
			}
		}
	})
}
