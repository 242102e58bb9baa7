package redlock_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/semaphore"
)

// BenchmarkPermitHandOffs runs processes of one caller each on two permits, each held for a millisecond. An iteration is
// two seconds; run it with -benchtime=3x.
func BenchmarkPermitHandOffs(b *testing.B) {
	for _, n := range []int{1, 5} {
		for _, waiters := range []int{2, 10, 50} {
			b.Run(fmt.Sprintf("nodes=%d/waiters=%d", n, waiters), func(b *testing.B) { benchHandOffs(b, n, waiters) })
		}
	}
}

func benchHandOffs(b *testing.B, n, waiters int) {
	const slots, hold = 2, time.Millisecond
	servers := benchServers(b, n)
	ctx := context.Background()
	var processes []*semaphore.Semaphore
	for range waiters + slots {
		s, err := semaphore.New(benchLocker(b, servers), "handoffs", slots)
		if err != nil {
			b.Fatal(err)
		}
		processes = append(processes, s)
	}
	all, commands := newLedger(waiters+slots), 0
	for b.Loop() {
		before, _ := commandCount(b, servers)
		all.run(b, hold, func(w int) (func() error, error) {
			p, err := processes[w].Acquire(ctx)
			if err != nil {
				return nil, err
			}
			return func() error { return p.Release(ctx) }, nil
		})
		after, _ := commandCount(b, servers)
		commands += after - before
	}
	acquired := float64(all.acquired())
	b.ReportMetric(acquired/all.ran.Seconds(), "acq/s")
	b.ReportMetric(float64(commands)/acquired, "commands/acq")
	b.ReportMetric(float64(quantile(all.waits, .5).Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(quantile(all.waits, .99).Microseconds())/1000, "p99-ms")
}
