package redlock_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
)

// BenchmarkHandOver runs callers of one process, or of two, on one resource. The floor of one process is a sync.Mutex
// held for as long. Two processes are compared with the same two without hand-over (NoRenew). An iteration is two
// seconds of each; run it with -benchtime=3x.
func BenchmarkHandOver(b *testing.B) {
	for _, n := range []int{1, 5} {
		for _, c := range []struct {
			lockers, callers int
			hold             time.Duration
		}{{1, 32, 0}, {1, 8, time.Millisecond}, {2, 16, 0}} {
			b.Run(fmt.Sprintf("nodes=%d/lockers=%d/callers=%d/hold=%v", n, c.lockers, c.callers, c.hold),
				func(b *testing.B) {
					benchHandOver(b, n, c.lockers, c.callers, c.hold)
				})
		}
	}
}

func benchHandOver(b *testing.B, n, lockers, callers int, hold time.Duration) {
	servers := benchServers(b, n)
	all := make([]*engine.Engine, lockers)
	for i := range all {
		all[i] = benchLocker(b, servers)
	}
	ctx := context.Background()
	by := func(opts ...lock.AcquireOption) func(w int) (func() error, error) {
		return func(w int) (func() error, error) {
			lease, err := all[w/callers].Acquire(ctx, "handover", opts...)
			if err != nil {
				return nil, err
			}
			return func() error { return lease.Release(ctx) }, nil
		}
	}
	ours, floor := newLedger(lockers*callers), newLedger(lockers*callers)
	floorOf := by(lock.NoRenew())
	if lockers == 1 {
		var mutex sync.Mutex
		floorOf = func(int) (func() error, error) {
			mutex.Lock()
			return func() error { mutex.Unlock(); return nil }, nil
		}
	}
	commands := 0
	for b.Loop() {
		floor.run(b, hold, floorOf)
		before, _ := commandCount(b, servers)
		ours.run(b, hold, by())
		after, _ := commandCount(b, servers)
		commands += after - before
	}
	b.ReportMetric(float64(ours.acquired())/ours.ran.Seconds(), "acq/s")
	b.ReportMetric(float64(commands)/float64(ours.acquired()), "commands/acq")
	b.ReportMetric(float64(quantile(ours.waits, .99).Microseconds())/1000, "p99-ms")
	b.ReportMetric(float64(floor.acquired())/floor.ran.Seconds(), "floor-acq/s")
	b.ReportMetric(float64(quantile(floor.waits, .99).Microseconds())/1000, "floor-p99-ms")
	b.ReportMetric(float64(ours.acquired())/ours.ran.Seconds()*floor.ran.Seconds()/float64(floor.acquired()), "rate-x")
}
