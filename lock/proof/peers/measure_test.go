package main

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"
)

// fakeLocker takes as long as it is told to, and keeps somebody out only if it has room
// for one holder.
type fakeLocker struct {
	takes time.Duration
	err   error
	held  chan struct{}
}

func (l fakeLocker) Acquire(context.Context, string) (func(context.Context) error, error) {
	time.Sleep(l.takes)
	if l.err != nil {
		return nil, l.err
	}
	if l.held == nil {
		return func(context.Context) error { return nil }, nil
	}
	l.held <- struct{}{}
	return func(context.Context) error { <-l.held; return nil }, nil
}

func (l fakeLocker) Close() error { return nil }

func TestThroughputCountsWhatIsDoneInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := measureThroughput(t.Context(), row{callers: 3}, []locker{fakeLocker{takes: 300 * time.Millisecond}}, "r",
			time.Second)
		if out.value != 9 || out.failed.count != 0 { // the fourth of each is done after 1.2 s
			t.Errorf("%+v", out)
		}
	})
}

func TestPairsAreTimedOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := measurePairs(t.Context(), row{callers: 1}, []locker{fakeLocker{takes: 3 * time.Millisecond}}, "r",
			time.Second)
		if out.value != .003 || out.beside <= 0 || out.failed.count != 0 {
			t.Errorf("%+v", out)
		}
	})
}

func TestFailuresAreCounted(t *testing.T) {
	down := errors.New("down")
	for name, m := range map[string]measure{
		"pairs": measurePairs, "throughput": measureThroughput, "hand-offs": measureHandoffs,
		"acquisitions": measureAcquisitions,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				out := m(t.Context(), row{callers: 1}, []locker{fakeLocker{takes: 30 * time.Millisecond, err: down}},
					"r", 100*time.Millisecond)
				if out.failed.count < 3 || out.failed.first != down || out.value > 0 {
					t.Errorf("%+v", out)
				}
			})
		})
	}
}

func TestTwoHoldersAreAFailure(t *testing.T) {
	for name, lock := range map[string]bool{"lock": true, "no lock": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var l fakeLocker
				if lock {
					l.held = make(chan struct{}, 1)
				}
				out := measureHandoffs(t.Context(), row{callers: 4, hold: 3 * time.Millisecond}, []locker{l}, "r",
					time.Second)
				if errors.Is(out.failed.first, errTwoHolders) == lock {
					t.Errorf("%+v", out)
				}
			})
		})
	}
}

func TestWhoStillWaitsAtTheEndHasNotFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := measureHandoffs(t.Context(), row{callers: 4}, []locker{waitingLocker{}}, "r", time.Second)
		if out.value != 0 || out.beside != 0 || out.failed.count != 0 {
			t.Errorf("%+v", out)
		}
	})
}

// waitingLocker waits for something that never comes.
type waitingLocker struct{ fakeLocker }

func (waitingLocker) Acquire(ctx context.Context, _ string) (func(context.Context) error, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestFairness(t *testing.T) {
	for _, c := range []struct {
		each []int
		want float64
	}{{[]int{5, 5, 5, 5}, 1}, {[]int{8, 0, 0, 0}, .25}, {[]int{3, 1}, .8}, {[]int{0, 0}, 0}} {
		if got := (&ledger{each: c.each}).fairness(); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v: %v", c.each, got)
		}
	}
}

func TestHandoffsAreChangesOfHolder(t *testing.T) {
	book := newLedger(2)
	for _, holder := range []int{0, 0, 1, 0} {
		if err := book.enter(holder); err != nil {
			t.Fatal(err)
		}
		book.leave()
	}
	if book.handoffs != 3 { // the first counts as one
		t.Errorf("%d hand-offs", book.handoffs)
	}
}

func TestMedian(t *testing.T) {
	if got := median([]float64{9, 1, 5}); got != 5 {
		t.Errorf("of three: %v", got)
	}
	if got := median([]float64{4, 1, 9, 2}); got != 3 {
		t.Errorf("of four: %v", got)
	}
	if got := median(nil); !math.IsNaN(got) {
		t.Errorf("of none: %v", got)
	}
}
