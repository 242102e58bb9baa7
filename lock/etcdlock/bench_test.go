package etcdlock_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/lockscope/lockscope/lock/etcdlock/etcdproc"
)

// BenchmarkUncontended is a lock and its release, beside what no lock can do without: two
// proposals, a put and a delete. They take turns, so that all meet the same machine; medians.
func BenchmarkUncontended(b *testing.B) {
	b.Setenv("LOCKSCOPE_ETCD_DIR", os.TempDir()) // on the disk
	for _, members := range []int{1, 3} {
		b.Run(fmt.Sprint(members), func(b *testing.B) {
			c := cluster(b, members)
			pairs := []func() error{floorPair(b, c), mutexPair(b, c), lockPair(b, c)}
			took := make([][]time.Duration, len(pairs))
			for b.Loop() {
				for i, pair := range pairs {
					began := time.Now()
					must(b, pair())
					took[i] = append(took[i], time.Since(began))
				}
			}
			var medians []float64
			for i, name := range []string{"floor", "mutex", "etcdlock"} {
				slices.Sort(took[i])
				medians = append(medians, float64(took[i][len(took[i])/2].Microseconds()))
				b.ReportMetric(medians[i], name+"-us")
			}
			b.ReportMetric(medians[2]/medians[0], "ratio")
		})
	}
}

func floorPair(b *testing.B, c *etcdproc.Cluster) func() error {
	client, ctx := client(b, c), context.Background()
	lease, err := client.Grant(ctx, 600)
	must(b, err)
	return func() error {
		_, err := client.Put(ctx, "floor", "x", clientv3.WithLease(lease.ID))
		must(b, err)
		_, err = client.Delete(ctx, "floor")
		return err
	}
}

func mutexPair(b *testing.B, c *etcdproc.Cluster) func() error {
	m := mutex(b, c, "mutex")
	return func() error { return errors.Join(m.Lock(context.Background()), m.Unlock(context.Background())) }
}

func lockPair(b *testing.B, c *etcdproc.Cluster) func() error {
	l := locker(b, c)
	return func() error {
		lease, err := l.Acquire(context.Background(), "lock")
		must(b, err)
		return lease.Release(context.Background())
	}
}

// BenchmarkHandOffs is one lock that several clients take in turn, as fast as they can.
func BenchmarkHandOffs(b *testing.B) {
	b.Setenv("LOCKSCOPE_ETCD_DIR", os.TempDir()) // on the disk
	for _, members := range []int{1, 3} {
		c := cluster(b, members)
		for _, clients := range []int{2, 8} {
			b.Run(fmt.Sprint(members, "/mutex/", clients), func(b *testing.B) {
				var work []func(context.Context) error
				for range clients {
					m := mutex(b, c, "mutex")
					work = append(work, func(ctx context.Context) error {
						if err := m.Lock(ctx); err != nil {
							return err
						}
						return m.Unlock(ctx)
					})
				}
				handOffs(b, work)
			})
			b.Run(fmt.Sprint(members, "/etcdlock/", clients), func(b *testing.B) {
				var work []func(context.Context) error
				for range clients {
					l := locker(b, c)
					work = append(work, func(ctx context.Context) error {
						lease, err := l.Acquire(ctx, "lock")
						if err != nil {
							return err
						}
						return lease.Release(ctx)
					})
				}
				handOffs(b, work)
			})
		}
	}
}

// handOffs reports how many there are in a second, and what the client that was served
// least has had for each one of the client that was served most.
func handOffs(b *testing.B, work []func(context.Context) error) {
	counts := make([]int64, len(work))
	var all sync.WaitGroup
	var left atomic.Int64
	left.Store(int64(b.N))
	b.ResetTimer()
	for i, do := range work {
		all.Go(func() {
			for left.Add(-1) >= 0 {
				if err := do(context.Background()); err != nil {
					b.Error(err)
					return
				}
				counts[i]++
			}
		})
	}
	all.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "handoffs/s")
	b.ReportMetric(float64(slices.Min(counts))/float64(max(slices.Max(counts), 1)), "fairness")
}
