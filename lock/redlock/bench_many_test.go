package redlock_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
)

// BenchmarkMany runs many goroutines of one process, each on its own resource. It reports pairs a second against the
// floor's, in alternating stretches. An iteration is one second of each; run it with -benchtime=5x.
func BenchmarkMany(b *testing.B) {
	for _, n := range []int{1, 5} {
		for _, goroutines := range []int{1, 64, 256} {
			b.Run(fmt.Sprintf("nodes=%d/goroutines=%d", n, goroutines), func(b *testing.B) {
				servers := benchServers(b, n)
				floor := floorLock{benchClients(b, servers, redis.Options{PoolSize: 32})}
				// Two cores that run everything answer more slowly than any node should.
				ours := benchLocker(b, servers, lock.WithNodeTimeout(time.Second))
				ctx := context.Background()
				var floors, pairs int
				for b.Loop() {
					done, err := workers(goroutines, time.Second, func(w, _ int) error {
						return floor.pair(ctx, fmt.Sprintf("floor:%d", w))
					})
					if err != nil {
						b.Fatal(err)
					}
					floors += done
					done, err = workers(goroutines, time.Second, func(w, _ int) error {
						return lockPair(ctx, ours, fmt.Sprintf("many:%d", w))
					})
					if err != nil {
						b.Fatal(err)
					}
					pairs += done
				}
				b.ReportMetric(float64(pairs)/float64(b.N), "pairs/s")
				b.ReportMetric(float64(floors)/float64(b.N), "floor-pairs/s")
				b.ReportMetric(float64(pairs)/float64(floors), "rate-x")
			})
		}
	}
}
