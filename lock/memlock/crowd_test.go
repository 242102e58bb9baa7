package memlock_test

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/lock/memlock"
)

var crowdSize = flag.Int("waiters", 100, "measure up to so many processes that wait for one resource")

// crowd is many processes that wait for one resource, in fake time. It counts the calls of nodes.
type crowd struct {
	calls, granted atomic.Int64
}

const (
	crowdSettles = 10 * time.Second // all are queued by then
	crowdWaits   = 20 * time.Second // for a holder that keeps the lock
	crowdHolds   = 10 * time.Millisecond
	handOffs     = 100
)

// cost is what was counted.
type cost struct {
	perHandOff float64 // calls of nodes, by all processes
	perWaiter  float64 // calls of nodes a second, by each process that waits, while the lock is held
	bytes      float64 // of heap and stacks, of each caller with its share of an engine
	goroutines float64 // of each caller, with its own
	took       time.Duration
}

func (c *crowd) context(ctx context.Context) context.Context {
	return locktrace.With(ctx, &locktrace.Trace{NodeEnd: func(context.Context, locktrace.NodeEnd) { c.calls.Add(1) }})
}

// wait takes the lock once, and holds it for a moment.
func (c *crowd) wait(ctx context.Context, l lock.Locker) {
	lease, err := l.Acquire(ctx, "job")
	if err != nil {
		return // the measurement is over
	}
	c.granted.Add(1)
	time.Sleep(crowdHolds)
	_ = lease.Release(ctx)
}

// measureCrowd has so many processes, each with so many callers.
func measureCrowd(t *testing.T, nodes, processes, callers int) (result cost) {
	synctest.Test(t, func(t *testing.T) {
		c, all := &crowd{}, memlock.NewNodes(nodes)
		ctx, over := context.WithCancel(c.context(t.Context()))
		held := acquire(t, newLocker(t, all))
		waiters := float64(processes * callers)
		before, goroutines := live(), runtime.NumGoroutine()
		var waiting sync.WaitGroup
		for range processes {
			l := newLocker(t, all)
			for range callers {
				waiting.Go(func() { c.wait(ctx, l) })
			}
			time.Sleep(crowdSettles / time.Duration(processes))
		}
		time.Sleep(crowdSettles)
		result.bytes = float64(live()-before) / waiters
		result.goroutines = float64(runtime.NumGoroutine()-goroutines) / waiters

		calls := c.calls.Load()
		time.Sleep(crowdWaits)
		result.perWaiter = float64(c.calls.Load()-calls) / float64(processes) / crowdWaits.Seconds()

		calls = c.calls.Load()
		began := time.Now()
		if err := held.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		for c.granted.Load() < min(handOffs, int64(waiters)) {
			time.Sleep(crowdHolds)
		}
		result.took = time.Since(began)
		result.perHandOff = float64(c.calls.Load()-calls) / float64(c.granted.Load())
		over()
		waiting.Wait()
	})
	return result
}

// live is what the heap and stacks have.
func live() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// TestWhoIsFarBackAsksSeldom: a process asks less often the more are in front of it, whether or not the gate was among
// the nodes that decided its last attempt.
func TestWhoIsFarBackAsksSeldom(t *testing.T) {
	for _, nodes := range []int{1, 5} {
		few, many := measureCrowd(t, nodes, 4, 1), measureCrowd(t, nodes, 64, 1)
		t.Logf("%d nodes: 4 waiters: %+v, 64: %+v", nodes, few, many)
		if many.perWaiter > few.perWaiter/2.5 {
			t.Errorf("%d nodes: a process asks %.2f times a second if 64 wait, and %.2f times if 4 do", nodes,
				many.perWaiter, few.perWaiter)
		}
	}
}

// TestCrowd measures larger crowds: go test -run TestCrowd ./lock/memlock -args -waiters=10000. Ten times as many callers
// wait in one process.
func TestCrowd(t *testing.T) {
	for _, nodes := range []int{1, 5} {
		for waiters := 1; waiters <= *crowdSize; waiters *= 10 {
			fmt.Printf("%d nodes, %d processes: %+v\n", nodes, waiters, measureCrowd(t, nodes, waiters, 1))
		}
		fmt.Printf("%d nodes, %d callers of one process: %+v\n", nodes, 10**crowdSize, measureCrowd(t, nodes, 1, 10**crowdSize))
	}
}
