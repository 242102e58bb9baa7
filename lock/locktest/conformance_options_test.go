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

// lockOnly is a node that can do nothing beside locks, of a system that has no counters and does not report holders.
type lockOnly struct {
	driver.BlockingLockOnly // goes before what node embeds
	node
}

type node struct{ driver.BlockingNode }

func (n lockOnly) Acquire(ctx context.Context, req driver.AcquireRequest) (driver.AcquireReply, error) {
	reply, err := n.BlockingNode.Acquire(ctx, req)
	reply.Counter, reply.Holder = 0, ""
	return reply, err
}

// TestLockerWithoutCapabilities: the suite does not test what the system lacks, except that it says so, and tests
// everything else.
func TestLockerWithoutCapabilities(t *testing.T) {
	t.Parallel()
	locktest.Run(t, locktest.Driver{Start: startLockOnly, NoFences: true, NoHolders: true})
}

func startLockOnly(t testing.TB) locktest.Maker {
	server := locktest.NewFakeServer("a")
	t.Cleanup(server.Close)
	began := time.Now()
	var seeds atomic.Uint64
	return func(t testing.TB, opts ...lock.Option) lock.Locker {
		n := lockOnly{node: node{server.Connect(seeds.Add(1), locktest.Faults{})}}
		clock := engine.WithClock(func() time.Duration { return time.Since(began) })
		e, err := engine.NewEngine([]driver.Node{engine.Async(n)}, append([]lock.Option{clock}, opts...)...)
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
