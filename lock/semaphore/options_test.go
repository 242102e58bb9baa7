package semaphore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/records"
	"github.com/lockscope/lockscope/lock/memlock"
	"github.com/lockscope/lockscope/lock/semaphore"
)

// never is a Locker that must not be asked.
type never struct{ t *testing.T }

func (n never) Acquire(context.Context, string, ...lock.AcquireOption) (lock.Lease, error) {
	n.t.Error("the Locker is asked")
	return nil, lock.ErrClosed
}

func TestBadInput(t *testing.T) {
	long := strings.Repeat("x", lock.MaxResourceLength-2)
	for name, c := range map[string]struct {
		locker lock.Locker
		name   string
		k      int
		want   error
	}{
		"no locker": {nil, "pool", 1, lock.ErrInvalidOption}, "no slots": {never{t}, "pool", 0, lock.ErrInvalidOption},
		"too many": {never{t}, "pool", records.MaxSlots + 1, lock.ErrInvalidOption},
		"no name":  {never{t}, "", 1, lock.ErrInvalidResource}, "braces": {never{t}, "{a}", 1, lock.ErrInvalidResource},
		"long": {never{t}, long, 11, lock.ErrInvalidResource}, "a slot": {never{t}, "pool#1", 3, lock.ErrInvalidResource},
	} {
		if _, err := semaphore.New(c.locker, c.name, c.k); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if s, err := semaphore.New(never{t}, long, 10); err != nil || s.Slots() != 10 || s.Name() != long {
		t.Error(err)
	}
}

// TestZeroSemaphore fails: it has no slots to look at, and would panic in a goroutine where nobody can recover.
func TestZeroSemaphore(t *testing.T) {
	var zero semaphore.Semaphore
	_, acquired := zero.Acquire(t.Context())
	_, tried := zero.TryAcquire(t.Context())
	for _, err := range []error{acquired, tried, zero.Do(t.Context(), nil)} {
		if !errors.Is(err, lock.ErrInvalidOption) {
			t.Error(err)
		}
	}
}

// TestBadOptions are refused by the engine, as those of a lock are.
func TestBadOptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 1, 2)
		s := f.process("a")
		for name, opt := range map[string]lock.AcquireOption{
			"TTL": lock.TTL(-1), "MaxWait": lock.MaxWait(-1), "MaxAttempts": lock.MaxAttempts(-1), "MaxHold": lock.MaxHold(0),
		} {
			if _, err := s.Acquire(t.Context(), opt); lock.ReasonOf(err) != lock.ReasonInvalid {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// TestWaitsAreBounded by each option that does it; the error says why the wait ended and who holds the slots.
func TestWaitsAreBounded(t *testing.T) {
	eachServed(t, 3, 3, func(t *testing.T, f *fleet) {
		a, b := f.process("a"), f.process("b")
		f.acquire(b)
		f.acquire(a)
		f.acquire(a)
		for name, c := range map[string]struct {
			opt    lock.AcquireOption
			reason lock.Reason
			atMost time.Duration
		}{
			"NoWait":        {lock.NoWait(), lock.ReasonHeld, 100 * time.Millisecond},
			"one attempt":   {lock.MaxAttempts(1), lock.ReasonHeld, 100 * time.Millisecond},
			"five attempts": {lock.MaxAttempts(5), lock.ReasonHeld, 2 * time.Second},
			"MaxWait":       {lock.MaxWait(5 * time.Second), lock.ReasonTimeout, 5*time.Second + 100*time.Millisecond},
		} {
			began := time.Now()
			_, err := b.Acquire(t.Context(), c.opt)
			full, ok := errors.AsType[*lock.FullError](err)
			if took := time.Since(began); lock.ReasonOf(err) != c.reason || took > c.atMost || !ok {
				t.Errorf("%s: %v after %v", name, err, took)
				continue
			}
			if full.Here != 1 || len(full.Held) != 2 || full.Held[0].Holder.Instance != "a" {
				t.Errorf("%s: %v", name, err)
			}
		}
		if cut, ok := errors.AsType[*lock.WaitError](waitFor(t, b, time.Second)); !ok || cut.Resource != "pool" ||
			cut.Attempts == 0 || cut.Waited < time.Second {
			t.Errorf("%+v", cut)
		}
	})
}

func waitFor(t *testing.T, s *semaphore.Semaphore, d time.Duration) error {
	_, err := s.Acquire(t.Context(), lock.MaxWait(d))
	return err
}

// TestMaxWaitBoundsTheFirstLook at nodes that hang.
func TestMaxWaitBoundsTheFirstLook(t *testing.T) {
	eachServed(t, 3, 5, func(t *testing.T, f *fleet) {
		for _, n := range f.nodes {
			n.Freeze()
		}
		began := time.Now()
		err := waitFor(t, f.process("a"), 50*time.Millisecond)
		if took := time.Since(began); !errors.Is(err, lock.ErrMaxWait) || took > 100*time.Millisecond {
			t.Errorf("%v after %v", err, took)
		}
		if _, err := f.process("b").TryAcquire(t.Context()); !errors.Is(err, lock.ErrNoQuorum) ||
			!strings.Contains(err.Error(), `"pool"`) {
			t.Error(err)
		}
		for _, n := range f.nodes {
			n.Thaw()
		}
		time.Sleep(time.Minute)
	})
}

// TestMaxWaitBoundsAllSlotsTogether, although each of them is slow.
func TestMaxWaitBoundsAllSlotsTogether(t *testing.T) {
	eachServed(t, 3, 5, func(t *testing.T, f *fleet) {
		f.fill(f.process("a"))
		for _, n := range f.nodes {
			n.Delay(60 * time.Millisecond)
		}
		began := time.Now()
		err := waitFor(t, f.process("b"), 100*time.Millisecond)
		if took := time.Since(began); !errors.Is(err, lock.ErrMaxWait) || took > 110*time.Millisecond {
			t.Errorf("%v after %v", err, took)
		}
		time.Sleep(time.Second)
	})
}

// TestMaxHold ends a permit, and the slot is free one TTL later.
func TestMaxHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3, 1)
		p := f.acquire(f.process("a"), lock.MaxHold(time.Minute))
		began := time.Now()
		f.acquire(f.process("b"))
		if cause := context.Cause(p.Context()); !errors.Is(cause, lock.ErrMaxHold) {
			t.Error(cause)
		}
		if took := time.Since(began); took > time.Minute+lock.DefaultTTL+time.Second {
			t.Errorf("after %v", took)
		}
	})
}

// TestOtherNumberOfSlots: where the nodes do not compare the number of slots, a caller that meets a holder with another
// one gets an error with both numbers, whether its own is the larger or the smaller, and whether it waits or not.
func TestOtherNumberOfSlots(t *testing.T) {
	for _, c := range []struct{ first, second int }{{2, 5}, {5, 2}} {
		t.Run(fmt.Sprint(c.first, " then ", c.second), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, 3, c.first)
				f.nodes.Serve(memlock.NoSlots)
				f.fill(f.process("a"))
				s := newSemaphore(t, f.locker("b"), c.second)
				for name, opt := range map[string]lock.AcquireOption{"NoWait": lock.NoWait(), "waits": nil} {
					var err error
					for range c.second { // those beyond the other's slots are free
						if _, err = s.Acquire(t.Context(), opt); err != nil {
							break
						}
					}
					other, ok := errors.AsType[*lock.SlotsError](err)
					if !ok || other.Slots != c.second || other.Other != c.first || !errors.Is(err, lock.ErrInvalidOption) ||
						lock.ReasonOf(err) != lock.ReasonInvalid {
						t.Errorf("%s: %v", name, err)
					}
				}
			})
		})
	}
}

// TestOtherNumberOfSlotsWhileWaiting: as above, a call that waits fails when a holder with another number takes over.
func TestOtherNumberOfSlotsWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3, 2)
		f.nodes.Serve(memlock.NoSlots)
		held := f.fill(f.process("a"))
		l, s := f.locker("c"), f.process("b")
		for _, p := range held { // c waits for both slots, and so comes before b
			go func() {
				_, err := l.Acquire(t.Context(), fmt.Sprint("pool#", p.Slot()), lock.Slots(7))
				if err != nil {
					t.Error(err)
				}
			}()
		}
		time.Sleep(time.Second)
		errs := make(chan error)
		go func() {
			_, err := s.Acquire(t.Context())
			errs <- err
		}()
		time.Sleep(time.Second)
		f.release(held[0])
		f.release(held[1])
		err := <-errs
		if other, ok := errors.AsType[*lock.SlotsError](err); !ok || other.Other != 7 || other.Slots != 2 {
			t.Error(err)
		}
	})
}

func TestDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3, 2)
		l := f.locker("a")
		s := newSemaphore(t, l, 2)
		failure := errors.New("disk full")
		if err := s.Do(t.Context(), func(ctx context.Context, p *semaphore.Permit) error {
			if len(lock.HeldLeases(ctx)) != 1 || ctx != p.Context() {
				t.Errorf("the context holds %v", lock.HeldLeases(ctx))
			}
			return failure
		}); !errors.Is(err, failure) {
			t.Error(err)
		}
		err := s.Do(t.Context(), func(ctx context.Context, p *semaphore.Permit) error {
			must(t, l.Lose(fmt.Sprint("pool#", p.Slot())))
			<-ctx.Done()
			return nil
		})
		if !errors.Is(err, lock.ErrLost) || errors.Is(err, lock.ErrNotHeld) {
			t.Error(err)
		}
		func() {
			defer func() {
				if v := recover(); v != "boom" {
					t.Errorf("panics with %v", v)
				}
			}()
			_ = s.Do(t.Context(), func(context.Context, *semaphore.Permit) error { panic("boom") })
		}()
		f.wantFree(2)
	})
}
