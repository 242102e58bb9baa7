package locktest_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
)

// uncounted is a node of a system that has no counters and does not report holders.
type uncounted struct{ driver.BlockingNode }

func (n uncounted) Acquire(ctx context.Context, req driver.AcquireRequest) (driver.AcquireReply, error) {
	reply, err := n.BlockingNode.Acquire(ctx, req)
	reply.Counter, reply.Holder = 0, ""
	return reply, err
}

func (n uncounted) Peek(ctx context.Context, req driver.PeekRequest) (driver.PeekReply, error) {
	reply, err := n.BlockingNode.Peek(ctx, req)
	reply.Counter, reply.Holder = 0, ""
	return reply, err
}

// TestLockerWithoutFences: the suite does not test what the system lacks, and tests everything else.
func TestLockerWithoutFences(t *testing.T) {
	t.Parallel()
	locktest.TestLockerInFakeTime(t, startUncounted, locktest.WithoutFences(), locktest.WithoutHolders())
}

func startUncounted(t testing.TB) func(testing.TB) lock.Locker {
	server := locktest.NewFakeServer("a")
	t.Cleanup(server.Close)
	began := time.Now()
	var seeds atomic.Uint64
	return func(t testing.TB) lock.Locker {
		node := uncounted{server.Connect(seeds.Add(1), locktest.Faults{})}
		e, err := engine.NewEngine([]driver.Node{engine.Async(node)},
			engine.WithClock(func() time.Duration { return time.Since(began) }))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
		return e
	}
}
