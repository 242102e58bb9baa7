package redsynclock_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/go-redsync/redsync/v4"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
)

// peer makes clients that contend with each other as processes do.
type peer struct {
	name   string
	client func(b *testing.B, servers []*redisproc.Server) locktest.Pair
}

var peers = []peer{
	{"redsync", func(b *testing.B, servers []*redisproc.Server) locktest.Pair { // first: what the others are compared to
		rs := redsync.New(pools(b, servers...)...)
		return func(resource string, work func()) error {
			m := rs.NewMutex(resource, redsync.WithTries(1_000_000))
			if err := m.Lock(); err != nil {
				return err
			}
			work()
			_, err := m.Unlock()
			return err
		}
	}},
	{"redsynclock", func(b *testing.B, servers []*redisproc.Server) locktest.Pair {
		l := locker(b, servers)
		return func(resource string, work func()) error {
			return lock.Do(context.Background(), l, resource, func(context.Context, lock.Lease) error { work(); return nil })
		}
	}},
}

// BenchmarkPair is the time of a pair that nobody contends for; the peers take turns.
func BenchmarkPair(b *testing.B) {
	for _, n := range []int{1, 3} {
		b.Run(fmt.Sprint(n, " pools"), func(b *testing.B) {
			servers := locktest.Servers(b, n)
			times := make([][]time.Duration, len(peers))
			var clients []locktest.Pair
			for _, p := range peers {
				clients = append(clients, p.client(b, servers))
			}
			for i := 0; b.Loop(); i++ {
				for j, do := range clients {
					began := time.Now()
					must(b, do("job", func() {}))
					if i > 0 { // the first connects
						times[j] = append(times[j], time.Since(began))
					}
				}
			}
			for j, p := range peers {
				slices.Sort(times[j])
				if len(times[j]) > 0 {
					b.ReportMetric(float64(times[j][len(times[j])/2].Microseconds()), "us-"+p.name)
				}
			}
		})
	}
}

// BenchmarkHandOffs is how often a second the lock is had, by clients that want it all the time, and Jain's index of fairness.
func BenchmarkHandOffs(b *testing.B) {
	const stretch = 5 * time.Second
	for _, n := range []int{2, 8} {
		for _, p := range peers {
			b.Run(fmt.Sprint(n, " clients/", p.name), func(b *testing.B) {
				servers := locktest.Servers(b, 1)
				var clients []locktest.Pair
				for range n {
					clients = append(clients, p.client(b, servers))
				}
				var seen locktest.Contention
				for b.Loop() {
					seen = locktest.Contend(b, stretch, clients)
				}
				seen.Report(b)
			})
		}
	}
}
