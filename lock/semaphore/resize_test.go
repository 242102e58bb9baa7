package semaphore_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
)

func resize(t *testing.T, f *fleet, from, to int) error {
	t.Helper()
	return f.locker("operator").Resize(t.Context(), "pool", from, to)
}

// wantUnfinished checks what a Resize says of each node.
func wantUnfinished(t *testing.T, err error, texts ...string) {
	t.Helper()
	if e, ok := errors.AsType[*engine.ResizeError](err); !ok || len(e.Nodes) != 3 {
		t.Fatalf("%v; an error with three nodes expected", err)
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%q is missing in %v", text, err)
		}
	}
}

// TestGrow: permits outlast a larger number. It is true at once, and calls with the old one learn of it.
func TestGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3, 1)
		old := f.process("old")
		held := f.acquire(old)
		began := time.Now()
		must(t, resize(t, f, 1, 2))
		if took := time.Since(began); took > time.Second {
			t.Errorf("it took %v", took)
		}
		f.judge.k, f.k = 2, 2
		f.acquire(newSemaphore(t, f.locker("new"), 2))
		time.Sleep(time.Minute)
		if held.Context().Err() != nil {
			t.Errorf("a permit was lost: %v", context.Cause(held.Context()))
		}
		f.release(held)
		_, err := old.TryAcquire(t.Context())
		wantSlotsError(t, err, 1, 2)
		f.wantFree(1)
	})
}

// TestShrink: when Resize has returned, no permit of a slot that is gone is valid, however often its holder renews it.
// A permit of another slot stays.
func TestShrink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3, 3)
		permits := f.fill(f.process("old"))
		began := time.Now()
		must(t, resize(t, f, 3, 1))
		if took := time.Since(began); took < lock.DefaultMaxTTL || took > 2*lock.DefaultMaxTTL {
			t.Errorf("it took %v", took)
		}
		for _, p := range permits {
			if valid := p.Remaining() > 0; valid != (p.Slot() == 0) {
				t.Errorf("the permit of slot %d is valid: %v", p.Slot(), valid)
			}
			if cause := context.Cause(p.Context()); p.Slot() > 0 && !errors.Is(cause, lock.ErrLost) {
				t.Errorf("slot %d: %v", p.Slot(), cause)
			}
		}
		_, err := newSemaphore(t, f.locker("new"), 1).TryAcquire(t.Context())
		if !errors.Is(err, lock.ErrHeld) {
			t.Error(err)
		}
	})
}

// TestExtendOfASlotThatIsGone says why it fails.
func TestExtendOfASlotThatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3, 2)
		for _, p := range f.fill(f.process("old")) {
			if p.Slot() == 0 {
				continue
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			err := f.locker("operator").Resize(ctx, "pool", 2, 1)
			if e, ok := errors.AsType[*engine.ResizeError](err); !ok || !errors.Is(err, context.DeadlineExceeded) ||
				time.Until(e.Until) < lock.DefaultMaxTTL-2*time.Second {
				t.Errorf("the wait was cut short: %v", err)
			}
			if err := p.Extend(t.Context()); !errors.Is(err, lock.ErrLost) || !strings.Contains(err.Error(), "fewer slots") {
				t.Errorf("%v", err)
			}
		}
	})
}

// TestResizeNeedsEveryNode: without one it changes none. If a node does not answer to the change, the error says which
// nodes have it, and a second call completes it.
func TestResizeNeedsEveryNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3, 1)
		s := f.process("old")
		f.release(f.acquire(s))
		synctest.Wait() // until every node knows the number
		f.nodes[2].Deny(driver.ErrUnreachable)
		wantUnfinished(t, resize(t, f, 1, 2), "mem1 knows 1", "mem3: node cannot be reached", "again")
		f.nodes.Recover()
		f.release(f.acquire(s))

		const trip = 40 * time.Millisecond
		f.nodes[2].Delay(trip)
		time.AfterFunc(trip/2, func() { f.nodes[2].Deny(driver.ErrUnreachable) }) // before the round that changes it
		wantUnfinished(t, resize(t, f, 1, 2), "mem1 knows 2", "mem2 knows 2", "mem3: node")
		f.nodes.Recover()
		_, err := s.TryAcquire(t.Context())
		wantSlotsError(t, err, 1, 2)
		must(t, resize(t, f, 1, 2))
		f.k, f.judge.k = 2, 2
		f.wantFree(2)
	})
}

// TestResizeFromAnother: a number that nobody named stays, and the error names it.
func TestResizeFromAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3, 5)
		f.release(f.acquire(f.process("a")))
		synctest.Wait() // until every node knows the number
		wantUnfinished(t, resize(t, f, 2, 3), "mem2 knows 5", "resize from 5")
		f.wantFree(5)
		must(t, resize(t, f, 5, 5))
	})
}

// TestResizeOfAnUnusedSemaphore: nodes that know no number take it.
func TestResizeOfAnUnusedSemaphore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3, 4)
		must(t, resize(t, f, 2, 4))
		_, err := newSemaphore(t, f.locker("old"), 2).TryAcquire(t.Context())
		wantSlotsError(t, err, 2, 4)
	})
}

// TestResizeRefusesBadInput before it asks a node.
func TestResizeRefusesBadInput(t *testing.T) {
	f := newFleet(t, 3, 1)
	operator := f.locker("operator")
	must(t, operator.Close()) // a call that asks fails with lock.ErrClosed
	for what, c := range map[string]struct {
		name     string
		from, to int
		want     error
	}{
		"no slots":    {"pool", 0, 2, lock.ErrInvalidOption},
		"none left":   {"pool", 2, 0, lock.ErrInvalidOption},
		"too many":    {"pool", 2, 101, lock.ErrInvalidOption},
		"no name":     {"", 2, 3, lock.ErrInvalidResource},
		"a long name": {strings.Repeat("x", 511), 2, 3, lock.ErrInvalidResource},
		"a slot":      {"pool#1", 2, 3, lock.ErrInvalidResource},
	} {
		if err := operator.Resize(t.Context(), c.name, c.from, c.to); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
