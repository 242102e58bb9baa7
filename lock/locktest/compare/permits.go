package compare

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/semaphore"
)

// PermitHandOffs lets 4 and 12 callers take turns at two permits, each held for a millisecond, for two seconds an
// iteration. Each caller has a locker of its own, as a process would.
func PermitHandOffs(b *testing.B, locker func(*testing.B) lock.Locker) {
	b.Helper()
	for _, callers := range []int{4, 12} {
		b.Run(fmt.Sprint(callers, " callers"), func(b *testing.B) {
			all := make([]*semaphore.Semaphore, callers)
			for i := range all {
				s, err := semaphore.New(locker(b), "handoffs", 2)
				if err != nil {
					b.Fatal(err)
				}
				all[i] = s
			}
			var waits []time.Duration
			for b.Loop() {
				waits = append(waits, takeTurns(b, all, 2*time.Second)...)
			}
			slices.Sort(waits)
			b.ReportMetric(float64(len(waits))/b.Elapsed().Seconds(), "permits/s")
			b.ReportMetric(float64(waits[len(waits)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(waits[len(waits)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}

// takeTurns returns how long each Acquire took.
func takeTurns(b *testing.B, all []*semaphore.Semaphore, within time.Duration) (waits []time.Duration) {
	var mu sync.Mutex
	var callers sync.WaitGroup
	end := time.Now().Add(within)
	for _, s := range all {
		callers.Go(func() {
			for time.Now().Before(end) {
				began := time.Now()
				permit, err := s.Acquire(context.Background())
				if err != nil {
					b.Error(err)
					return
				}
				took := time.Since(began)
				time.Sleep(time.Millisecond) // the work
				if err := permit.Release(context.Background()); err != nil {
					b.Error(err)
				}
				mu.Lock()
				waits = append(waits, took)
				mu.Unlock()
			}
		})
	}
	callers.Wait()
	return waits
}
