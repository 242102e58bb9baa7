package diagnosis

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
)

// stall is how long the node of these tests is stopped, and how long it runs in between.
const stall = 300 * time.Millisecond

// TestStallsCount: calls that would have been made while one had no answer are samples, too.
func TestStallsCount(t *testing.T) {
	for _, c := range []struct {
		timeout time.Duration
		missed  float64 // share
		status  inspect.Status
	}{
		{100 * time.Millisecond, 1.0 / 3, inspect.Fail},
		{290 * time.Millisecond, 1.0 / 60, inspect.Warn},
		{500 * time.Millisecond, 0, inspect.Warn}, // each is answered, with little time to spare
		{time.Second, 0, inspect.Pass},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			p := testPolicy()
			p.For, p.NodeTimeout, p.TTL = 6*time.Second, c.timeout, 20*time.Second
			l := sampleLatency(t.Context(), p, func(context.Context) error {
				time.Sleep(time.Millisecond)
				if at := time.Since(began) % (2 * stall); at >= stall {
					time.Sleep(2*stall - at)
				}
				return nil
			})
			share := float64(l.Missed) / float64(l.Count)
			if share < c.missed-0.03 || share > c.missed+0.03 || l.P50 > 40*time.Millisecond ||
				l.P99 < 280*time.Millisecond {
				t.Errorf("%v: %+v, share %.2f, want %.2f", c.timeout, l, share, c.missed)
			}
			if r := judgeLatency(l, p, "", ""); r.Status != c.status {
				t.Errorf("%v: %+v, want %s", c.timeout, r, c.status)
			}
		})
	}
}

// TestSamplingIsBounded: a server that answers each call late does not make a series of a few calls long.
func TestSamplingIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, p := time.Now(), testPolicy()
		l := sampleLatency(t.Context(), p, func(context.Context) error { time.Sleep(2 * time.Second); return nil })
		if took := time.Since(began); took > ReachTimeout+3*time.Second || l.Answered < 2 || l.LeastTimeout() != 4*time.Second {
			t.Errorf("%v for %+v, node timeout %v", took, l, l.LeastTimeout())
		}
	})
}

// TestRealNodeThatStalls is stopped half of the time. All its answers come, and no call after the first was slow.
func TestRealNodeThatStalls(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	nodes := nodesOf(t, s)
	over := stalling(t, s)
	strict, usual := testPolicy(), testPolicy()
	strict.For, strict.NodeTimeout = 5*stall, 100*time.Millisecond
	usual.For, usual.NodeTimeout = 5*stall, engine.DefaultNodeTimeout(usual.TTL)
	var asking sync.WaitGroup
	var results []inspect.Result
	asking.Go(func() { results = examine(t, usual, nodes) })
	want(t, examine(t, strict, nodes), "latency", s.Addr(), inspect.Fail, "not answered within 100ms")
	asking.Wait()
	want(t, results, "latency", s.Addr(), inspect.Warn, "p99") // above half of the node timeout; a busy machine adds to it
	over()
}

// stalling stops a server for half of the time, until it is told that this is over.
func stalling(t *testing.T, s *redisproc.Server) (over func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var stalls sync.WaitGroup
	stalls.Go(func() {
		for ctx.Err() == nil {
			if err := s.Pause(); err != nil {
				t.Error(err)
			}
			ui.Pause(ctx, stall)
			if err := s.Resume(); err != nil {
				t.Error(err)
			}
			ui.Pause(ctx, stall)
		}
	})
	over = func() { cancel(); stalls.Wait() }
	t.Cleanup(over)
	return over
}

// TestFailedCallsAreNotFast: one that failed at once took the node timeout at least, or a server that refuses would have
// the best latency.
func TestFailedCallsAreNotFast(t *testing.T) {
	var l Latency
	l.fill([]sample{{time.Millisecond, false}, {time.Millisecond, true}}, 50*time.Millisecond)
	if l.Count != 2 || l.Missed != 1 || l.P99 != 50*time.Millisecond {
		t.Errorf("%+v", l)
	}
}
