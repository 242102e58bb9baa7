//go:build unix

package redlock_test

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/locktrace"
)

const (
	leasesTTL = time.Minute
	// leasesHeld is how long all of them are held and renewed: each is due once in a quarter to a third of the TTL.
	leasesHeld = 40 * time.Second
	// leasesAtOnce are acquired at a time.
	leasesAtOnce = 32
)

// BenchmarkLeases holds many resources in one process, and renews them. It reports what a lease costs in memory and
// goroutines, and what a renewal costs this process and each server. Run it with -benchtime=1x.
func BenchmarkLeases(b *testing.B) {
	for _, n := range []int{1, 5} {
		for _, leases := range []int{1_000, 10_000, 100_000} {
			b.Run(fmt.Sprintf("nodes=%d/leases=%d", n, leases), func(b *testing.B) { benchLeases(b, n, leases) })
		}
	}
}

func benchLeases(b *testing.B, n, leases int) {
	servers := benchServers(b, n)
	// With the longest node timeout that a TTL of a minute has by default.
	locker := benchLocker(b, servers, lock.WithMaxTTL(leasesTTL), lock.WithNodeTimeout(3*time.Second))
	for b.Loop() {
		r := &renewals{}
		before := usage()
		began := time.Now()
		held := acquireMany(b, locker, r.context(b.Context()), leases)
		b.ReportMetric(time.Since(began).Seconds(), "s-to-acquire")
		after := usage()
		each := float64(leases)
		b.ReportMetric(float64(after.heap-before.heap)/each, "B/lease")
		b.ReportMetric(float64(after.goroutines-before.goroutines)/each, "goroutines/lease")

		cpu, servers0 := processCPU(), serversCPU(b, servers)
		done, late := r.done.Load(), r.failed.Load()
		r.began.Store(time.Now().UnixNano())
		time.Sleep(leasesHeld)
		renewed := float64(r.done.Load() - done)
		b.ReportMetric(float64((processCPU()-cpu).Microseconds())/renewed, "client-us/renewal")
		b.ReportMetric((serversCPU(b, servers)-servers0)*1e6/renewed/float64(n), "server-us/renewal")
		b.ReportMetric(renewed/leasesHeld.Seconds(), "renewals/s")
		b.ReportMetric(float64(r.failed.Load()-late), "failed-rounds")
		b.ReportMetric(float64(r.busiest())/(renewed/leasesHeld.Seconds()), "busiest-s/mean")
		lost := 0
		for _, l := range held {
			if l.Context().Err() != nil {
				lost++
			}
		}
		b.ReportMetric(float64(lost), "lost")
		began = time.Now()
		releaseMany(held)
		b.ReportMetric(time.Since(began).Seconds(), "s-to-release")
	}
	b.ReportMetric(0, "ns/op")
}

func acquireMany(b *testing.B, l *engine.Engine, ctx context.Context, leases int) []lock.Lease {
	b.Helper()
	held := make([]lock.Lease, leases)
	var next atomic.Int64
	var all sync.WaitGroup
	for range leasesAtOnce {
		all.Go(func() {
			for i := next.Add(1) - 1; int(i) < leases; i = next.Add(1) - 1 {
				lease, err := l.Acquire(ctx, "many:"+strconv.FormatInt(i, 10), lock.TTL(leasesTTL))
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

func releaseMany(held []lock.Lease) {
	leases := make(chan lock.Lease)
	var all sync.WaitGroup
	for range leasesAtOnce {
		all.Go(func() {
			for l := range leases {
				_ = l.Release(context.Background()) // a lost one is counted already
			}
		})
	}
	for _, l := range held {
		leases <- l
	}
	close(leases)
	all.Wait()
}

// renewals counts rounds, and from an instant on also those of each second.
type renewals struct {
	done, failed, began atomic.Int64
	seconds             [leasesHeld / time.Second]atomic.Int64
}

func (r *renewals) count() {
	r.done.Add(1)
	if began := r.began.Load(); began != 0 {
		if s := (time.Now().UnixNano() - began) / int64(time.Second); s < int64(len(r.seconds)) {
			r.seconds[s].Add(1)
		}
	}
}

// busiest is how many rounds ended in the second in which most did.
func (r *renewals) busiest() (most int64) {
	for i := range r.seconds {
		most = max(most, r.seconds[i].Load())
	}
	return most
}

func (r *renewals) context(ctx context.Context) context.Context {
	return locktrace.With(ctx, &locktrace.Trace{RenewEnd: func(_ context.Context, e locktrace.RenewEnd) {
		if e.Outcome == locktrace.RenewDone {
			r.count()
		} else {
			r.failed.Add(1)
		}
	}})
}

type used struct{ heap, goroutines int }

// usage is what is live now.
func usage() used {
	runtime.GC()
	runtime.GC() // what finalizers and pools keep goes with the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return used{int(m.HeapAlloc + m.StackInuse), runtime.NumGoroutine()}
}

func processCPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// serversCPU is in seconds, of all servers.
func serversCPU(b *testing.B, servers []*redisproc.Server) (seconds float64) {
	b.Helper()
	for _, c := range benchClients(b, servers, redis.Options{}) {
		info, err := c.Info(context.Background(), "cpu").Result()
		if err != nil {
			b.Fatal(err)
		}
		for line := range strings.Lines(info) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
			if name == "used_cpu_user" || name == "used_cpu_sys" {
				s, err := strconv.ParseFloat(value, 64)
				if err != nil {
					b.Fatal(err)
				}
				seconds += s
			}
		}
	}
	return seconds
}
