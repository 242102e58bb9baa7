package semaphore_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/semaphore"
)

// TestNeverMoreThanK: callers of several processes get their permits, never more than k at once, and all k are used.
func TestNeverMoreThanK(t *testing.T) {
	for _, k := range []int{1, 3, 5} {
		t.Run(fmt.Sprint(k), func(t *testing.T) {
			eachServed(t, 5, k, func(t *testing.T, f *fleet) {
				var callers sync.WaitGroup
				for p := range 4 {
					s := f.process(fmt.Sprint("process", p))
					for c := range 5 {
						random := rand.New(rand.NewPCG(uint64(p), uint64(c)))
						callers.Go(func() {
							for range 20 {
								p := f.acquire(s)
								time.Sleep(time.Duration(random.IntN(100)) * time.Millisecond)
								f.release(p)
							}
						})
					}
				}
				callers.Wait()
				f.wantMost()
				f.wantFree(k)
			})
		})
	}
}

// TestOrderInAProcess: its callers are served first come, first served, whichever slot becomes free.
func TestOrderInAProcess(t *testing.T) {
	for _, k := range []int{1, 2, 5} {
		t.Run(fmt.Sprint(k), func(t *testing.T) {
			eachServed(t, 3, k, func(t *testing.T, f *fleet) {
				s := f.process("a")
				held := f.fill(s)
				var got order
				var want []string
				var callers sync.WaitGroup
				permits := make(chan *semaphore.Permit, 20)
				for c := range 20 {
					want = append(want, fmt.Sprint(c))
					callers.Go(func() {
						p := f.acquire(s)
						got.add("%d", c)
						permits <- p
					})
					time.Sleep(10 * time.Millisecond) // they come one after the other
				}
				for i := range 20 {
					f.release(held[0])
					time.Sleep(50 * time.Millisecond) // less than the interval between two looks
					if n := len(got.seen()); n != i+1 {
						t.Fatalf("%d callers have a permit after %d releases", n, i+1)
					}
					held = append(held[1:], <-permits)
				}
				callers.Wait()
				if seen := got.seen(); !slices.Equal(seen, want) {
					t.Errorf("served in the order %v", seen)
				}
			})
		})
	}
}

// TestAnyFreeSlotIsFound: a waiting process gets the slot that another one releases, at the latest at its next poll,
// whichever slot it is. Without one queue for all, each has waited in the queue of a slot that it chose by itself.
func TestAnyFreeSlotIsFound(t *testing.T) {
	const k = 5
	eachServed(t, 3, k, func(t *testing.T, f *fleet) {
		a := f.process("a")
		for i := range k {
			held, b := f.fill(a), f.process(fmt.Sprint("b", i))
			got := make(chan *semaphore.Permit)
			go func() { got <- f.acquire(b) }()
			time.Sleep(time.Minute)
			began, slot := time.Now(), held[i].Slot()
			f.release(held[i])
			p := <-got
			if took := time.Since(began); took > lock.DefaultPollInterval+10*time.Millisecond || p.Slot() != slot {
				t.Errorf("slot %d after %v, of slot %d", p.Slot(), took, slot)
			}
			for _, p := range append(slices.Delete(held, i, i+1), p) {
				f.release(p)
			}
		}
	})
}

// TestGivingUpLeavesNothing: no permit, no place in a queue, and the next in line goes on.
func TestGivingUpLeavesNothing(t *testing.T) {
	eachServed(t, 3, 3, func(t *testing.T, f *fleet) {
		a, b := f.process("a"), f.process("b")
		held := f.fill(a)
		ctx, cancel := context.WithCancelCause(t.Context())
		errs := make(chan error, 3)
		for range 3 {
			go func() {
				_, err := b.Acquire(ctx)
				errs <- err
			}()
			time.Sleep(time.Second)
		}
		last := make(chan *semaphore.Permit)
		go func() { last <- f.acquire(b) }()
		time.Sleep(time.Minute)
		shutdown := errors.New("shutdown")
		cancel(shutdown)
		for range 3 {
			if err := <-errs; !errors.Is(err, shutdown) || !errors.Is(err, context.Canceled) || !errors.Is(err, lock.ErrHeld) {
				t.Error(err)
			}
		}
		for _, p := range held {
			f.release(p)
		}
		f.release(<-last)
		f.wantFree(3)
	})
}

// TestDetached: the permit outlives the context of its call, and a call that gives up holds nothing.
func TestDetached(t *testing.T) {
	eachServed(t, 3, 1, func(t *testing.T, f *fleet) {
		s := f.process("a")
		ctx, cancel := context.WithCancel(t.Context())
		p, err := s.AcquireDetached(ctx)
		must(t, err)
		time.AfterFunc(time.Second, cancel)
		if _, err := s.AcquireDetached(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("ctx ended while it waited: %v", err)
		}
		must(t, p.Context().Err())
		must(t, p.Extend(t.Context()))
		f.release(p)
		f.wantFree(1)
		var none *semaphore.Semaphore
		if _, err := none.AcquireDetached(ctx); !errors.Is(err, lock.ErrInvalidOption) {
			t.Error(err)
		}
	})
}

// TestReleasedAtOnce: a process that waits while all slots become free in the same instant takes one of them, and leaves
// the others free.
func TestReleasedAtOnce(t *testing.T) {
	eachServed(t, 3, 5, func(t *testing.T, f *fleet) {
		for _, n := range f.nodes {
			n.Delay(time.Millisecond)
		}
		a, b := f.process("a"), f.process("b")
		for range 50 {
			held := f.fill(a)
			got := make(chan *semaphore.Permit)
			go func() { got <- f.acquire(b) }()
			time.Sleep(time.Second + rand.N(200*time.Millisecond))
			for _, p := range held {
				go f.release(p)
			}
			p := <-got
			time.Sleep(100 * time.Millisecond)
			f.wantFree(4)
			f.release(p)
		}
	})
}

// TestManyWaiters: a thousand callers of one process all get a permit.
func TestManyWaiters(t *testing.T) {
	eachServed(t, 3, 5, func(t *testing.T, f *fleet) {
		s := f.process("a")
		var callers sync.WaitGroup
		for range 1000 {
			callers.Go(func() {
				p := f.acquire(s)
				time.Sleep(10 * time.Millisecond)
				f.release(p)
			})
		}
		began := time.Now()
		callers.Wait()
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%v for 200 turns of 10 ms", took)
		}
		f.wantMost()
		f.wantFree(5)
	})
}

// TestCrash: the permits of a process that died are free after the TTL, and not before.
func TestCrash(t *testing.T) {
	eachServed(t, 3, 2, func(t *testing.T, f *fleet) {
		dies := f.locker("dies")
		f.fill(newSemaphore(t, dies, 2))
		must(t, dies.Close()) // which releases nothing
		s := f.process("a")
		_, err := s.TryAcquire(t.Context())
		full, ok := errors.AsType[*lock.FullError](err)
		if !ok || !errors.Is(err, lock.ErrHeld) || full.Here != 0 || len(full.Held) != 2 {
			t.Fatal(err)
		}
		for _, held := range full.Held {
			if held.Holder.Instance != "dies" || !strings.Contains(err.Error(), held.Error()) {
				t.Errorf("%q does not name the holder of %s", err, held.Resource)
			}
		}
		began := time.Now()
		f.acquire(s)
		if took := time.Since(began); took < lock.DefaultTTL-time.Second || took > lock.DefaultTTL+time.Second {
			t.Errorf("after %v", took)
		}
	})
}

// TestLossIsOneSlot: a lost permit ends, the others stay.
func TestLossIsOneSlot(t *testing.T) {
	eachServed(t, 3, 3, func(t *testing.T, f *fleet) {
		l := f.locker("a")
		s := newSemaphore(t, l, 3)
		held := f.fill(s)
		must(t, l.Lose(fmt.Sprint("pool#", held[1].Slot())))
		<-held[1].Context().Done()
		if cause := context.Cause(held[1].Context()); !errors.Is(cause, lock.ErrLost) || held[1].Remaining() > 0 {
			t.Errorf("%v, %v left", cause, held[1].Remaining())
		}
		time.Sleep(time.Minute)
		for _, p := range []*semaphore.Permit{held[0], held[2]} {
			must(t, p.Extend(t.Context()))
			if p.Context().Err() != nil || p.Remaining() <= 0 {
				t.Errorf("slot %d: %v", p.Slot(), context.Cause(p.Context()))
			}
		}
		if p := f.acquire(s); p.Slot() != held[1].Slot() {
			t.Errorf("slot %d is given out twice", p.Slot())
		}
	})
}

// TestNewcomersDoNotOvertake a call of their process that waits, also where slots became free and nobody was told.
func TestNewcomersDoNotOvertake(t *testing.T) {
	eachServed(t, 3, 2, func(t *testing.T, f *fleet) {
		_ = f.fill(newSemaphore(t, f.locker("holder"), 2))
		s := f.process("a", lock.WithPollInterval(time.Hour))
		var got order
		var callers sync.WaitGroup
		for c := range 3 {
			callers.Go(func() {
				p, err := s.Acquire(t.Context())
				must(t, err)
				got.add("%d", c)
				time.Sleep(time.Second)
				must(t, p.Release(t.Context()))
			})
			synctest.Wait()
			if time.Sleep(time.Second); c == 1 {
				for _, n := range f.nodes {
					n.Forget()
				}
			}
		}
		callers.Wait()
		if seen := got.seen(); len(seen) != 3 || seen[2] != "2" { // the first two have a slot each, at the same instant
			t.Errorf("served in the order %v", seen)
		}
	})
}

// TestAReleaseThatHelpsNobody: a call that is told of a slot while too few nodes answer looks again later, not at once.
func TestAReleaseThatHelpsNobody(t *testing.T) {
	eachServed(t, 3, 2, func(t *testing.T, f *fleet) {
		var sent commands
		s := f.process("a")
		held := f.fill(s)
		got := make(chan *semaphore.Permit)
		go func() {
			p, err := s.Acquire(sent.in(t.Context()))
			if err != nil {
				t.Error(err)
			}
			got <- p
		}()
		synctest.Wait()
		f.nodes.NoQuorum()
		_ = held[0].Release(t.Context())
		before := sent.n.Load()
		time.Sleep(2 * time.Second)
		if n := sent.n.Load() - before; n > 200 {
			t.Errorf("%d commands in 2 s", n)
		}
		f.nodes.Recover()
		must(t, (<-got).Release(t.Context()))
	})
}
