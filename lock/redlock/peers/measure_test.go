package main

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"
)

// fakeLocker takes as long as it is told to, and keeps nobody out.
type fakeLocker struct {
	takes time.Duration
	err   error
}

func (l fakeLocker) Acquire(context.Context, string) (func(context.Context) error, error) {
	time.Sleep(l.takes)
	if l.err != nil {
		return nil, l.err
	}
	return func(context.Context) error { return nil }, nil
}

func (l fakeLocker) Close() error { return nil }

func TestThroughputCountsWhatIsDoneInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := measureThroughput(t.Context(), row{callers: 3}, []locker{fakeLocker{takes: 300 * time.Millisecond}}, "r", time.Second)
		if out.value != 9 || out.failed.count != 0 { // the fourth of each is done after 1.2 s
			t.Errorf("%+v", out)
		}
	})
}

func TestPairsAreTimedOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := measurePairs(t.Context(), row{callers: 1}, []locker{fakeLocker{takes: 3 * time.Millisecond}}, "r", time.Second)
		if out.value != .003 || out.beside <= 0 || out.failed.count != 0 {
			t.Errorf("%+v", out)
		}
	})
}

func TestFailuresAreCounted(t *testing.T) {
	down := errors.New("down")
	for name, m := range map[string]measure{"pairs": measurePairs, "throughput": measureThroughput} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				out := m(t.Context(), row{callers: 1}, []locker{fakeLocker{takes: 30 * time.Millisecond, err: down}}, "r", 100*time.Millisecond)
				if out.failed.count < 3 || out.failed.first != down || out.value > 0 {
					t.Errorf("%+v", out)
				}
			})
		})
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
