package workers

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestGroupWaitsForEverythingItStarted(t *testing.T) {
	for range 200 {
		g := New()
		var started, done atomic.Int64
		var callers sync.WaitGroup
		for range 8 {
			callers.Go(func() {
				for range 50 {
					if g.Run(func() { done.Add(1) }) {
						started.Add(1)
					}
				}
			})
		}
		g.Close() // races with the callers by design
		late := done.Load()
		callers.Wait()
		if g.Run(func() { t.Error("ran after close") }) {
			t.Error("a closed group accepts work")
		}
		if started.Load() != done.Load() || done.Load() != late {
			t.Fatalf("%d started, %d done, %d of them by the end of close", started.Load(), done.Load(), late)
		}
	}
}

func TestGroupKeepsNoMoreIdleWorkersThanItSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New()
		gate := make(chan struct{})
		for range 3 * maxIdleWorkers {
			g.Run(func() { <-gate })
		}
		close(gate)
		synctest.Wait()
		if g.idle != maxIdleWorkers {
			t.Errorf("%d idle workers, want %d", g.idle, maxIdleWorkers)
		}
		g.Close()
	})
}

// TestWorkersOfAPeakEnd: what an outage took is given back, down to what the calls after it need.
func TestWorkersOfAPeakEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New()
		defer g.Close()
		calls := func(n int) {
			gate := make(chan struct{})
			for range n {
				g.Run(func() { <-gate })
			}
			close(gate)
			synctest.Wait()
		}
		calls(maxIdleWorkers)
		for range 2 * maxIdleWorkers {
			time.Sleep(spareInterval)
			calls(3)
		}
		if g.idle != 3 {
			t.Errorf("%d idle workers after calls that take three at once", g.idle)
		}
	})
}
