package live_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/live"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
)

// BenchmarkViews measures what the profile and the timelines add to a Board that nobody looks at. A stretch with each
// goes in turns with a stretch without, and the medians are compared. The metrics are per pair of acquire and release.
func BenchmarkViews(b *testing.B) {
	off := []live.Option{live.WithProfileRate(0), live.WithTimelines(0)}
	views := []struct {
		name string
		opts []live.Option
	}{
		{"nothing", off}, // shows how far to trust the others
		{"profile", []live.Option{live.WithTimelines(0)}},
		{"timelines", []live.Option{live.WithProfileRate(0)}},
		{"both", nil},
	}
	servers := locktest.Servers(b, 1)
	for _, work := range []struct {
		name    string
		locker  func() lock.Locker
		callers int
		pairs   int // of each caller in a stretch
	}{
		{"uncontended", func() lock.Locker { return onRedis(b, servers) }, 1, 20},
		{"contended", func() lock.Locker { return instantRedlock(b) }, 8, 25},
	} {
		for _, v := range views {
			b.Run(work.name+"/"+v.name, func(b *testing.B) {
				turns := [2]lock.Locker{
					wrap(b, newBoard(b, off...), work.locker()), wrap(b, newBoard(b, v.opts...), work.locker()),
				}
				var took [2][]time.Duration
				for i := 0; b.Loop(); i++ {
					for j := range turns {
						which := (i + j) % 2 // who goes first alternates, too
						took[which] = append(took[which], stretch(b, turns[which], work.callers, work.pairs))
					}
				}
				slices.Sort(took[0])
				slices.Sort(took[1])
				without, with := took[0][len(took[0])/2], took[1][len(took[1])/2]
				b.ReportMetric(float64(without)/1e3, "without-us")
				b.ReportMetric(float64(with-without)/1e3, "more-us")
				b.ReportMetric(float64(with)/float64(without), "p50-x")
			})
		}
	}
}

// stretch returns the time of a pair.
func stretch(b *testing.B, l lock.Locker, callers, pairs int) time.Duration {
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	began := time.Now()
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for range pairs {
				pair(b, ctx, l)
			}
		})
	}
	all.Wait()
	return time.Since(began) / time.Duration(callers*pairs)
}
