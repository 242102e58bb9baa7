//go:build unix

package redlock_test

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/rwlock"
)

// readersHeld is how long many readers of one lock are held and renewed.
const readersHeld = 20 * time.Second

// BenchmarkManyReaders holds one read/write lock by many readers, with default options, on three nodes. It reports the
// time that a node takes for a renewal, and how many leases were lost. Run it with -benchtime=1x.
func BenchmarkManyReaders(b *testing.B) {
	for _, readers := range []int{1, 100, 1_500} {
		b.Run(fmt.Sprintf("readers=%d", readers), func(b *testing.B) {
			servers := benchServers(b, 3)
			rw := benchRWLock(b, benchLocker(b, servers))
			for b.Loop() {
				held := readMany(b, rw, readers)
				resetStats(b, servers)
				time.Sleep(readersHeld)
				b.ReportMetric(microsecondsPerCall(b, servers[0]), "node-us/renewal")
				lost := 0
				for _, l := range held {
					if l.Context().Err() != nil {
						lost++
					}
				}
				b.ReportMetric(float64(lost), "lost")
				releaseMany(held)
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

func readMany(b *testing.B, rw *rwlock.RWLock, readers int) []lock.Lease {
	b.Helper()
	held := make([]lock.Lease, readers)
	var all sync.WaitGroup
	for first := range leasesAtOnce {
		all.Go(func() {
			for i := first; i < readers; i += leasesAtOnce {
				lease, err := rw.RLock(b.Context())
				if err != nil {
					b.Error(err)
					return
				}
				held[i] = lease
			}
		})
	}
	all.Wait()
	if b.Failed() {
		b.FailNow()
	}
	return held
}

func resetStats(b *testing.B, servers []*redisproc.Server) {
	b.Helper()
	for _, c := range benchClients(b, servers, redis.Options{}) {
		if err := c.ConfigResetStat(context.Background()).Err(); err != nil {
			b.Fatal(err)
		}
	}
}

// microsecondsPerCall is the mean time of the scripts of a server.
func microsecondsPerCall(b *testing.B, server *redisproc.Server) float64 {
	b.Helper()
	c := benchClients(b, []*redisproc.Server{server}, redis.Options{})[0]
	stats := c.Info(context.Background(), "commandstats").Val()
	found := regexp.MustCompile(`cmdstat_evalsha:.*usec_per_call=([0-9.]+)`).FindStringSubmatch(stats)
	if found == nil {
		return 0
	}
	us, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		b.Fatal(err)
	}
	return us
}
