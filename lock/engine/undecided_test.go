package engine_test

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
)

// TestOneOfManyAtOnce: three processes that do not wait each have the vote of the node that is next to them. All are
// refused; they ask again, and one gets the lock.
func TestOneOfManyAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		processes := splitVotes(t)
		for round := range 20 {
			var calls sync.WaitGroup
			leases := make(chan lock.Lease, len(processes))
			for _, l := range processes {
				calls.Go(func() {
					lease, err := l.Acquire(t.Context(), "report", lock.NoWait())
					if err == nil {
						leases <- lease
					} else if !errors.Is(err, lock.ErrHeld) {
						t.Errorf("round %d: %v", round, err)
					}
				})
			}
			calls.Wait()
			close(leases)
			if len(leases) != 1 {
				t.Errorf("round %d: %d processes got the lock", round, len(leases))
			}
			for lease := range leases {
				if err := lease.Release(t.Context()); err != nil {
					t.Error(err)
				}
			}
			time.Sleep(time.Second) // nobody remembers that others were refused
		}
	})
}

// splitVotes makes one process for each of three nodes. It is next to its node, and far from the others.
func splitVotes(t *testing.T) (processes []lock.Locker) {
	t.Helper()
	const near, far = 10 * time.Microsecond, time.Millisecond
	var servers []*locktest.FakeServer
	for _, name := range []string{"a", "b", "c"} {
		s := locktest.NewFakeServer(name)
		t.Cleanup(s.Close)
		servers = append(servers, s)
	}
	began := time.Now()
	clock := engine.WithClock(func() time.Duration { return time.Since(began) })
	for i := range servers {
		var nodes []driver.Node
		for j, s := range servers {
			takes := far
			if i == j {
				takes = near
			}
			faults := locktest.Faults{RequestDelay: locktest.Between(takes, takes), ReplyDelay: locktest.Between(takes, takes)}
			nodes = append(nodes, engine.Async(s.Connect(uint64(3*i+j+1), faults)))
		}
		l, err := engine.NewEngine(nodes, clock)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		})
		processes = append(processes, l)
	}
	return processes
}
