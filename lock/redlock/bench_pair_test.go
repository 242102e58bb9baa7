package redlock_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
)

// BenchmarkPair is one uncontended acquire and release, alternating with the
// floor so that both see the same machine. floor-x is the ratio of the medians.
func BenchmarkPair(b *testing.B) {
	for _, c := range []struct {
		name  string
		nodes int
		ctx   func() (context.Context, context.CancelFunc)
	}{
		{"nodes=1/context=background", 1, func() (context.Context, context.CancelFunc) {
			return context.Background(),
				func() {}
		}},
		{"nodes=1/context=cancellable", 1, cancellable},
		{"nodes=3/context=cancellable", 3, cancellable},
		{"nodes=5/context=cancellable", 5, cancellable},
	} {
		b.Run(c.name, func(b *testing.B) {
			n := c.nodes
			servers := benchServers(b, n)
			floor := floorLock{benchClients(b, servers, redis.Options{PoolSize: 32})}
			ours := benchLocker(b, servers)
			ctx, cancel := c.ctx()
			defer cancel()
			floors := make([]time.Duration, 0, b.N)
			times := make([]time.Duration, 0, b.N)
			for i := 0; b.Loop(); i++ {
				began := time.Now()
				if err := floor.pair(ctx, fmt.Sprintf("floor:%d", i%16)); err != nil {
					b.Fatal(err)
				}
				floors = append(floors, time.Since(began))
				began = time.Now()
				if err := lockPair(ctx, ours, fmt.Sprintf("pair:%d", i%16)); err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(began))
			}
			report(b, floors, times)
		})
	}
}

// BenchmarkPairAfterAPause is the pair of a service that calls seldom: its connections have been idle for longer than
// a command may take on them.
func BenchmarkPairAfterAPause(b *testing.B) {
	for _, n := range []int{1, 5} {
		b.Run(fmt.Sprintf("nodes=%d", n), func(b *testing.B) {
			servers := benchServers(b, n)
			floor := floorLock{benchClients(b, servers, redis.Options{})}
			ours := benchLocker(b, servers, lock.WithNodeTimeout(250*time.Millisecond)) // a command may take a second
			var floors, times []time.Duration
			for b.Loop() {
				time.Sleep(1100 * time.Millisecond)
				began := time.Now()
				if err := floor.pair(b.Context(), "floor"); err != nil {
					b.Fatal(err)
				}
				floors = append(floors, time.Since(began))
				began = time.Now()
				if err := lockPair(b.Context(), ours, "pair"); err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(began))
			}
			report(b, floors, times)
		})
	}
}

func cancellable() (context.Context, context.CancelFunc) {
	return context.WithCancel(context.Background())
}

// BenchmarkPairAllocs measures the allocations of the pair and of the floor.
func BenchmarkPairAllocs(b *testing.B) {
	for _, n := range []int{1, 5} {
		servers := benchServers(b, n)
		floor := floorLock{benchClients(b, servers, redis.Options{PoolSize: 32})}
		ours := benchLocker(b, servers)
		for name, pair := range map[string]func(context.Context, string) error{
			"floor":     floor.pair,
			"lockscope": func(ctx context.Context, resource string) error { return lockPair(ctx, ours, resource) },
		} {
			b.Run(fmt.Sprintf("nodes=%d/%s", n, name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := pair(context.Background(), "allocs"); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func report(b *testing.B, floors, times []time.Duration) {
	p50, floor50 := quantile(times, .5), quantile(floors, .5)
	p99, floor99 := quantile(times, .99), quantile(floors, .99)
	b.ReportMetric(float64(p50.Microseconds()), "p50-us")
	b.ReportMetric(float64(floor50.Microseconds()), "floor-p50-us")
	b.ReportMetric(float64(p50)/float64(floor50), "p50-x")
	b.ReportMetric(float64(p99)/float64(floor99), "p99-x")
}

// BenchmarkHungNode compares the acquires of one locker while all of five nodes
// are healthy and while one is stopped, in alternating stretches.
func BenchmarkHungNode(b *testing.B) {
	servers := benchServers(b, 5)
	ours := benchLocker(b, servers)
	ctx := context.Background()
	var healthy, hung []time.Duration
	measure := func(into *[]time.Duration) {
		for i := range 400 {
			began := time.Now()
			lease, err := ours.Acquire(ctx, fmt.Sprintf("hung:%d", i%16))
			*into = append(*into, time.Since(began))
			if err != nil {
				b.Fatal(err)
			}
			if err := lease.Release(ctx); err != nil {
				b.Fatal(err)
			}
		}
	}
	for b.Loop() {
		measure(&healthy)
		if err := servers[2].Pause(); err != nil {
			b.Fatal(err)
		}
		measure(&hung)
		if err := servers[2].Resume(); err != nil {
			b.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond) // the resumed node runs what it was sent
	}
	b.ReportMetric(float64(quantile(healthy, .5).Microseconds()), "healthy-p50-us")
	b.ReportMetric(float64(quantile(hung, .5).Microseconds()), "hung-p50-us")
	b.ReportMetric(float64(quantile(healthy, .99).Microseconds()), "healthy-p99-us")
	b.ReportMetric(float64(quantile(hung, .99).Microseconds()), "hung-p99-us")
	b.ReportMetric(float64(quantile(hung, .99))/float64(quantile(healthy, .99)), "p99-x")
}
