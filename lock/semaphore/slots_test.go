package semaphore_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/memlock"
	"github.com/lockscope/lockscope/lock/semaphore"
)

// wantSlotsError checks that the nodes refused a call because they know another number of slots.
func wantSlotsError(t *testing.T, err error, slots, other int) {
	t.Helper()
	e, ok := errors.AsType[*lock.SlotsError](err)
	if !ok || e.Slots != slots || e.Other != other || e.Err == nil || !errors.Is(err, lock.ErrInvalidOption) {
		t.Fatalf("%v; an error of the nodes, which know %d slots and not %d, expected", err, other, slots)
	}
	for _, text := range []string{`"pool"`, "mem1", "Resize"} {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%q is missing in %v", text, err)
		}
	}
}

// TestNodesKnowTheNumberOfSlots: a caller with another number is refused although it meets no holder, also if it would
// wait, and whether its number is larger or smaller.
func TestNodesKnowTheNumberOfSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3, 2)
		f.release(f.acquire(f.process("the first")))
		synctest.Wait() // until every node knows the number
		for _, k := range []int{1, 3} {
			s := newSemaphore(t, f.locker("another"), k)
			for range k {
				_, err := s.TryAcquire(t.Context())
				wantSlotsError(t, err, k, 2)
			}
			_, err := s.Acquire(t.Context())
			wantSlotsError(t, err, k, 2)
		}
		f.wantFree(2)
	})
}

// TestWaitersLearnOfAnotherNumber: a call that waits when the nodes take another number fails at its next look.
func TestWaitersLearnOfAnotherNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3, 1)
		held := f.acquire(f.process("holder"), lock.NoRenew())
		waits := make(chan error, 1)
		s := f.process("waiter")
		go func() {
			_, err := s.Acquire(t.Context())
			waits <- err
		}()
		time.Sleep(time.Second)
		synctest.Wait()                 // until the waiter asks nobody
		for _, n := range f.nodes[:2] { // their quarantine is the matter of drivers
			n.Forget()
		}
		p, err := newSemaphore(t, f.locker("another"), 2).Acquire(t.Context())
		must(t, err)
		wantSlotsError(t, <-waits, 1, 2)
		must(t, p.Release(t.Context()))
		_ = held.Release(t.Context())
	})
}

// TestOneNodeKnowsAnotherNumber: a minority that knows another number costs no permit, whichever node it is.
func TestOneNodeKnowsAnotherNumber(t *testing.T) {
	for odd := range 3 {
		synctest.Test(t, func(t *testing.T) {
			f := newFleet(t, 3, 2)
			alone, err := memlock.New(f.nodes[odd : odd+1])
			must(t, err)
			defer alone.Close()
			p, err := newSemaphore(t, alone, 3).Acquire(t.Context())
			must(t, err)
			must(t, p.Release(t.Context()))
			a, b := f.process("a"), f.process("b")
			for range 5 {
				held := f.fill(a)
				waits := make(chan *semaphore.Permit)
				go func() { waits <- f.acquire(b) }()
				time.Sleep(time.Second)
				f.release(held[0])
				f.release(<-waits)
				f.release(held[1])
			}
		})
	}
}

// TestNumberOfSlotsIsForgotten: once nobody has used the semaphore for a day, and not while somebody does.
func TestNumberOfSlotsIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3, 2)
		a := f.process("a")
		other := newSemaphore(t, f.locker("another"), 3)
		p := f.acquire(a, lock.MaxHold(lock.Unlimited))
		time.Sleep(36 * time.Hour)
		_, err := other.TryAcquire(t.Context())
		wantSlotsError(t, err, 3, 2)
		f.release(p)
		time.Sleep(11 * time.Hour)
		_, err = other.TryAcquire(t.Context())
		wantSlotsError(t, err, 3, 2)
		time.Sleep(13 * time.Hour)
		p, err = other.TryAcquire(t.Context())
		must(t, err)
		must(t, p.Release(t.Context()))
		synctest.Wait() // until every node knows the number
		_, err = a.TryAcquire(t.Context())
		wantSlotsError(t, err, 2, 3)
	})
}

// TestSlotsErrorHasTheAnswers: callers find the nodes' errors in it.
func TestSlotsErrorHasTheAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 5, 2)
		f.release(f.acquire(f.process("a")))
		synctest.Wait() // until every node knows the number
		_, err := newSemaphore(t, f.locker("b"), 4).TryAcquire(t.Context())
		votes, ok := errors.AsType[*lock.QuorumError](err)
		if !ok || len(votes.Errors) < 3 {
			t.Fatalf("%v has no votes", err)
		}
		for _, node := range votes.Errors {
			e, ok := errors.AsType[*driver.SlotsError](node)
			if !ok || e.Slots != 4 || e.Known != 2 {
				t.Errorf("%v", node)
			}
		}
	})
}
