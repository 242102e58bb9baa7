package redlock_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/rwlock"
)

func benchRWLock(b *testing.B, l lock.Locker) *rwlock.RWLock {
	b.Helper()
	rw, err := rwlock.New(l, "prices")
	if err != nil {
		b.Fatal(err)
	}
	return rw
}

// BenchmarkReadPair is one read lock, acquired and released, alternating with its floor: a lock. floor-x is the ratio
// of the medians.
func BenchmarkReadPair(b *testing.B) {
	for _, nodes := range []int{1, 3, 5} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			ctx, cancel := cancellable()
			defer cancel()
			locker := benchLocker(b, benchServers(b, nodes))
			rw := benchRWLock(b, locker)
			floors := make([]time.Duration, 0, b.N)
			times := make([]time.Duration, 0, b.N)
			for b.Loop() {
				began := time.Now()
				if err := lockPair(ctx, locker, "lock"); err != nil {
					b.Fatal(err)
				}
				floors = append(floors, time.Since(began))
				began = time.Now()
				lease, err := rw.RLock(ctx)
				if err == nil {
					err = lease.Release(ctx)
				}
				if err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(began))
			}
			report(b, floors, times)
		})
	}
}

// BenchmarkReaders is sections of a length that eight callers go through, in four engines on three nodes: as readers
// and, in turns with that, with a lock. reads/s and locks/s are how many of the sections end in a second.
func BenchmarkReaders(b *testing.B) {
	for _, section := range []time.Duration{time.Millisecond, 10 * time.Millisecond, 100 * time.Millisecond} {
		b.Run(fmt.Sprintf("section=%v", section), func(b *testing.B) {
			servers := benchServers(b, 3)
			var lockers []lock.Locker
			for range 4 {
				lockers = append(lockers, benchLocker(b, servers))
			}
			var reads, locks int
			for b.Loop() {
				reads += sections(b, lockers, section, func(l lock.Locker) acquireSection { return benchRWLock(b, l).RLock })
				locks += sections(b, lockers, section, func(l lock.Locker) acquireSection {
					return func(ctx context.Context, opts ...lock.AcquireOption) (lock.Lease, error) {
						return l.Acquire(ctx, "prices", opts...)
					}
				})
			}
			seconds := float64(b.N) * stretch.Seconds()
			b.ReportMetric(float64(reads)/seconds, "reads/s")
			b.ReportMetric(float64(locks)/seconds, "locks/s")
			b.ReportMetric(0, "ns/op")
		})
	}
}

type acquireSection func(context.Context, ...lock.AcquireOption) (lock.Lease, error)

// sections counts the sections that end in a stretch of time.
func sections(b *testing.B, lockers []lock.Locker, section time.Duration, of func(lock.Locker) acquireSection) (n int) {
	ctx, cancel := context.WithTimeout(context.Background(), stretch)
	defer cancel()
	var (
		callers sync.WaitGroup
		mu      sync.Mutex
	)
	for _, l := range lockers {
		acquire := of(l)
		for range 2 {
			callers.Go(func() {
				for ctx.Err() == nil {
					lease, err := acquire(ctx)
					if err != nil {
						if !errors.Is(err, context.DeadlineExceeded) {
							b.Error(err)
						}
						return
					}
					time.Sleep(section)
					if err := lease.Release(context.Background()); err != nil {
						b.Error(err)
					}
					mu.Lock()
					n++
					mu.Unlock()
				}
			})
		}
	}
	callers.Wait()
	return n
}
