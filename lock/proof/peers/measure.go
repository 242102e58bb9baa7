package main

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"syscall"
	"time"
)

// outcome is what one peer did in one stretch.
type outcome struct {
	value  float64 // seconds or per second; NaN if nothing succeeded that it could be told of
	beside float64 // allocations of a pair, its CPU in seconds, or Jain's index
	failed failures
}

// measure does a row's work for d with lockers that are open and a name that no other
// stretch uses.
type measure func(ctx context.Context, r row, lockers []locker, resource string, d time.Duration) outcome

const (
	// spread is how many resources a single caller goes round, so that a node that
	// answers after the quorum has time for it.
	spread = 16
	// countedPairs are those whose allocations are counted, after each stretch.
	countedPairs = 100
)

// measurePairs times every pair, and counts allocations apart from that: reading the
// count stops the world.
func measurePairs(ctx context.Context, r row, lockers []locker, resource string, d time.Duration) outcome {
	names := numbered(resource, spread)
	var times []float64
	next := 0
	_, failed := stretch(ctx, r.callers, d, func(c caller) error {
		next++
		began := time.Now()
		if err := pair(c.ctx, lockers[0], names[next%spread]); err != nil {
			return err
		}
		times = append(times, time.Since(began).Seconds())
		return nil
	})
	allocations := countAllocations(func() {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		for i := range countedPairs {
			if err := pair(ctx, lockers[0], names[i%spread]); err != nil {
				failed.add(err)
			}
		}
	})
	return outcome{value: median(times), beside: allocations / countedPairs, failed: failed}
}

// countAllocations counts those of the whole process, for much of a pair happens in
// goroutines of the library.
func countAllocations(do func()) float64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs - before.Mallocs)
}

func measureThroughput(ctx context.Context, r row, lockers []locker, resource string, d time.Duration) outcome {
	names := numbered(resource, r.callers)
	before := cpuTime()
	turns, failed := stretch(ctx, r.callers, d, func(c caller) error {
		return pair(c.ctx, lockers[0], names[c.index])
	})
	cost := (cpuTime() - before).Seconds() / float64(turns)
	return outcome{value: float64(turns) / d.Seconds(), beside: cost, failed: failed}
}

// cpuTime is what this process has used, also in the kernel.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// measureHandoffs counts how often the holder was another one than before.
func measureHandoffs(ctx context.Context, r row, lockers []locker, resource string, d time.Duration) outcome {
	book, _, failed := contend(ctx, r, lockers, resource, d)
	return outcome{value: float64(book.handoffs) / d.Seconds(), beside: book.fairness(), failed: failed}
}

func measureAcquisitions(ctx context.Context, r row, lockers []locker, resource string, d time.Duration) outcome {
	book, turns, failed := contend(ctx, r, lockers, resource, d)
	return outcome{value: float64(turns) / d.Seconds(), beside: book.fairness(), failed: failed}
}

// contend has all callers want one resource until the stretch is over. Who still waits
// then gives up, which is no failure.
func contend(ctx context.Context, r row, lockers []locker, resource string, d time.Duration) (*ledger, int, failures) {
	book := newLedger(r.callers)
	turns, failed := stretch(ctx, r.callers, d, func(c caller) error {
		release, err := lockers[c.index%len(lockers)].Acquire(c.waiting, resource)
		if err != nil && c.waiting.Err() != nil {
			return errOver
		}
		if err != nil {
			return err
		}
		return holdAndRelease(c, book, r.hold, release)
	})
	return book, turns, failed
}

// holdAndRelease notes nobody who was granted it after the end.
func holdAndRelease(c caller, book *ledger, hold time.Duration, release func(context.Context) error) error {
	if c.waiting.Err() != nil {
		return release(c.ctx)
	}
	err := book.enter(c.index)
	if hold > 0 {
		time.Sleep(hold)
	}
	book.leave()
	if failed := release(c.ctx); err == nil {
		err = failed
	}
	return err
}

func pair(ctx context.Context, l locker, resource string) error {
	release, err := l.Acquire(ctx, resource)
	if err != nil {
		return err
	}
	return release(ctx)
}

// numbered are made before the clock runs.
func numbered(resource string, n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%s:%d", resource, i)
	}
	return names
}

// median sorts in place. Of nothing it is NaN.
func median(samples []float64) float64 {
	n := len(samples)
	if n == 0 {
		return math.NaN()
	}
	slices.Sort(samples)
	return (samples[(n-1)/2] + samples[n/2]) / 2
}
