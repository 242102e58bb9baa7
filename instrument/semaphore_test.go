package instrument_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/memlock"
	"github.com/lockscope/lockscope/lock/semaphore"
)

// TestPermitIsOneAcquisition: a permit is one acquisition with one wait, however many of three slots its caller asked
// for, and whichever slot it got. A call that does not wait and finds all slots held is one that was contended.
func TestPermitIsOneAcquisition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := memlock.NewNodes(3)
		other, _ := onNodes(t, nodes, "a")
		l, _ := onNodes(t, nodes, "b")
		a, err := semaphore.New(other, "pool", 3)
		must(t, err)
		b, err := semaphore.New(l, "pool", 3)
		must(t, err)
		var held []*semaphore.Permit
		for range 3 {
			p, err := a.Acquire(t.Context())
			must(t, err)
			held = append(held, p)
		}
		waits := func() (count uint64, seconds float64) {
			h := find(t, l, "wait_seconds", "resource", "pool").GetHistogram()
			return h.GetSampleCount(), h.GetSampleSum()
		}
		if _, err := b.TryAcquire(t.Context()); !errors.Is(err, lock.ErrHeld) {
			t.Errorf("%v, want that it is held", err)
		}
		if n, seconds := waits(); n != 1 || seconds > .1 {
			t.Errorf("%d waits of %v s of a call that did not wait", n, seconds)
		}
		ended := func(outcome string) float64 {
			return gather(t, l, "acquisitions_total", "resource", "pool", "outcome", outcome)
		}
		if n := ended("contended"); n != 1 {
			t.Errorf("%v contended calls, want 1", n)
		}
		for i, p := range held { // two of them are not the slot in whose queue b waits
			got := make(chan error)
			go func() { got <- b.Do(t.Context(), func(context.Context, *semaphore.Permit) error { return nil }) }()
			time.Sleep(10 * time.Second)
			must(t, p.Release(t.Context()))
			must(t, <-got)
			calls := float64(i + 1)
			if n, seconds := waits(); float64(n) != calls+1 || seconds < 9.9*calls || seconds > 10.5*calls {
				t.Errorf("%d waits of %.1f s, want %v of 10 s each", n, seconds, calls)
			}
			if acquired, contended := ended("acquired"), ended("contended"); acquired != calls || contended != 1 {
				t.Errorf("%v acquired and %v contended, want %v and 1", acquired, contended, calls)
			}
			_, err := a.Acquire(t.Context())
			must(t, err)
		}
		if n := gather(t, l, "failures_total", "resource", "pool"); n != 0 {
			t.Errorf("%v failures", n)
		}
	})
}

// TestPermitWaitsAsLongAsItsCaller: the attempts at held slots are part of the wait.
func TestPermitWaitsAsLongAsItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := memlock.NewNodes(3)
		other, _ := onNodes(t, nodes, "a")
		l, _ := onNodes(t, nodes, "b")
		a, err := semaphore.New(other, "pool", 5)
		must(t, err)
		b, err := semaphore.New(l, "pool", 5)
		must(t, err)
		for _, n := range nodes {
			n.Delay(20 * time.Millisecond)
		}
		var held []*semaphore.Permit
		for range 5 {
			p, err := a.Acquire(t.Context())
			must(t, err)
			held = append(held, p)
		}
		time.AfterFunc(200*time.Millisecond, func() { _ = held[4].Release(context.Background()) })
		began := time.Now()
		p, err := b.Acquire(t.Context())
		must(t, err)
		took := time.Since(began).Seconds()
		must(t, p.Release(t.Context()))
		h := find(t, l, "wait_seconds", "resource", "pool").GetHistogram()
		if h.GetSampleCount() != 1 || h.GetSampleSum() < .99*took {
			t.Errorf("%d waits of %.3f s, the caller waited %.3f s", h.GetSampleCount(), h.GetSampleSum(), took)
		}
	})
}

// TestLookThatEndsTheCallCounts: a call that asks for several slots and fails at the first of them is one failure; so is
// one that waits after such a look.
func TestLookThatEndsTheCallCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := memlock.NewNodes(3)
		l, _ := onNodes(t, nodes, "a")
		s, err := semaphore.New(l, "pool", 3)
		must(t, err)
		nodes.NoQuorum()
		if _, err := s.TryAcquire(t.Context()); !errors.Is(err, lock.ErrNoQuorum) {
			t.Errorf("%v, want no quorum", err)
		}
		if _, err := s.Acquire(t.Context(), lock.MaxWait(time.Second)); !errors.Is(err, lock.ErrMaxWait) {
			t.Errorf("%v, want that the wait was cut short", err)
		}
		for outcome, want := range map[string]float64{"no_quorum": 1, "timeout": 1, "contended": 0, "canceled": 0} {
			if n := gather(t, l, "acquisitions_total", "resource", "pool", "outcome", outcome); n != want {
				t.Errorf("%v calls ended as %s, want %v", n, outcome, want)
			}
		}
		if n := gather(t, l, "failures_total", "resource", "pool"); n != 2 {
			t.Errorf("%v failures, want 2", n)
		}
	})
}
