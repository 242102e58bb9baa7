package observe_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/lockscope/lockscope/exporter/observe"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/election"
	"github.com/lockscope/lockscope/lock/lockset"
	"github.com/lockscope/lockscope/lock/memlock"
	"github.com/lockscope/lockscope/lock/rwlock"
	"github.com/lockscope/lockscope/lock/semaphore"
)

// TestMemoryStopsGrowing: a process that uses locks and all constructs beside two others, and whose metrics and pages are
// read, needs no more memory after 200 minutes than after 100. What it remembers is as old as an hour at most.
func TestMemoryStopsGrowing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := memlock.NewNodes(5)
		lockers := make([]lock.Locker, 3)
		for i := range lockers {
			l, err := memlock.New(nodes, lock.WithInstance(fmt.Sprint("process/", i)), lock.WithCallSites())
			must(t, err)
			defer l.Close()
			lockers[i] = l
		}
		locks, err := observe.New(lockers[0], observe.Config{
			Registry: prometheus.NewRegistry(), TracerProvider: noop.NewTracerProvider(), Logger: slog.New(slog.DiscardHandler),
		})
		must(t, err)
		lockers[0] = locks
		ctx, stop := context.WithCancel(t.Context())
		var working sync.WaitGroup
		for i, l := range lockers {
			for c := range 8 {
				working.Go(func() { work(ctx, l, rand.New(rand.NewPCG(uint64(c), uint64(i)))) })
			}
		}
		working.Go(func() { look(ctx, locks.Exporter) })
		time.Sleep(100 * time.Minute)
		before := inUse()
		time.Sleep(100 * time.Minute)
		after := inUse()
		t.Logf("%.2f MiB, then %.2f MiB", before, after)
		if after > 1.1*before {
			t.Errorf("%.2f MiB are in use after 100 minutes, and %.2f MiB after 200", before, after)
		}
		stop()
		working.Wait()
		must(t, locks.Shutdown(context.Background()))
	})
}

// inUse is how many MiB are in use.
func inUse() float64 {
	runtime.GC()
	runtime.GC() // what pools hold goes with the second one
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / (1 << 20)
}

// look reads what the process serves, as Prometheus and a page do.
func look(ctx context.Context, served http.Handler) {
	for ctx.Err() == nil {
		time.Sleep(5 * time.Second)
		for _, path := range []string{"/metrics", "/debug/locks?format=json", "/debug/locks/history?format=json"} {
			served.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil))
		}
	}
}

// work uses everything that is made of locks, every three seconds or so. Many calls are given up.
func work(ctx context.Context, l lock.Locker, r *rand.Rand) {
	pause := func(most time.Duration) { time.Sleep(time.Duration(r.Int64N(int64(most)))) }
	hold := func(context.Context, lock.Lease) error { pause(time.Second); return nil }
	name := func() string { return fmt.Sprint("resource:", r.IntN(12)) }
	brief := lock.MaxWait(2 * time.Second)
	pool, err := semaphore.New(l, "pool", 2)
	if err != nil {
		panic(err)
	}
	shared, err := rwlock.New(l, "shared")
	if err != nil {
		panic(err)
	}
	for ctx.Err() == nil {
		pause(6 * time.Second)
		switch r.IntN(7) {
		case 0:
			within, cancel := context.WithTimeout(ctx, 3*time.Second)
			if term, err := election.Campaign(within, l, "leader", election.TTL(3*time.Second)); err == nil {
				pause(time.Second)
				_ = term.Resign(context.Background())
			}
			cancel()
		case 1:
			_ = pool.Do(ctx, func(ctx context.Context, _ *semaphore.Permit) error { return hold(ctx, nil) }, brief)
		case 2:
			_ = lockset.Do(ctx, l, []string{name(), name()}, func(ctx context.Context, _ *lockset.Set) error {
				return hold(ctx, nil)
			}, brief)
		case 3:
			_ = shared.Read(ctx, hold, brief)
		case 4:
			_ = shared.Write(ctx, hold, brief)
		default:
			_ = lock.Do(ctx, l, name(), hold, brief)
		}
	}
}
