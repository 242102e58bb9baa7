package locktest

import (
	"sync"
	"testing"
	"time"
)

// Pair takes the lock of a resource, works, and gives it back, as one client does.
type Pair func(resource string, work func()) error

// Contention is what clients did that all wanted one lock.
type Contention struct {
	Locks    float64 // a second
	HandOffs float64 // a second: those after which another client had it than before
	Jain     float64 // fairness after Jain: 1 if all had it as often, 1/n if one of n had it alone
}

// Contend has each client take one lock as often as it can for so long, and reports the
// error of one that failed, which ends that client. It returns when all have ended. The
// lock itself guards what is counted: one that two clients hold at a time is a data race.
func Contend(t testing.TB, d time.Duration, clients []Pair) (c Contention) {
	counts := make([]float64, len(clients))
	last := -1 // who had it last
	end := time.Now().Add(d)
	var all sync.WaitGroup
	for i, do := range clients {
		all.Go(func() {
			for time.Now().Before(end) {
				err := do("contended", func() {
					counts[i]++
					if last != i {
						c.HandOffs++
					}
					last = i
				})
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	var squares float64
	for _, n := range counts {
		c.Locks += n
		squares += n * n
	}
	c.Jain = c.Locks * c.Locks / (float64(len(counts)) * max(squares, 1))
	c.Locks, c.HandOffs = c.Locks/d.Seconds(), c.HandOffs/d.Seconds()
	return c
}

// Report adds the numbers to those of a benchmark.
func (c Contention) Report(b *testing.B) {
	b.ReportMetric(c.Locks, "locks/s")
	b.ReportMetric(c.HandOffs, "hand-offs/s")
	b.ReportMetric(c.Jain, "jain")
}
