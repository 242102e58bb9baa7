package semaphore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/lock/memlock"
	"github.com/lockscope/lockscope/lock/semaphore"
)

// served are permits in the order in which their calls got them.
type served chan servedPermit

type servedPermit struct {
	call   int
	permit *semaphore.Permit
}

// join makes n processes wait, one after the other.
func (f *fleet) join(n int, opts ...lock.Option) (all []*semaphore.Semaphore, got served) {
	got = make(served, n)
	for i := range n {
		s := f.process(fmt.Sprint("waiter ", i), opts...)
		all = append(all, s)
		go func() { got <- servedPermit{i, f.acquire(s)} }()
		synctest.Wait()
		time.Sleep(time.Millisecond)
	}
	return all, got
}

// TestQueueIsFirstComeFirstServed: processes that wait for a permit get it in the order in which they came, whichever
// slot becomes free, and at once.
func TestQueueIsFirstComeFirstServed(t *testing.T) {
	for _, k := range []int{1, 2, 5} {
		t.Run(fmt.Sprint(k), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, 3, k)
				held := f.fill(f.process("holder"))
				_, got := f.join(8, lock.WithPollInterval(time.Minute)) // one that looks by itself may overtake
				for i := range 8 {
					slot := held[i%k].Slot()
					f.release(held[i%k])
					began := time.Now()
					next := <-got
					if took := time.Since(began); next.call != i || next.permit.Slot() != slot || took > 20*time.Millisecond {
						t.Errorf("release %d of slot %d: waiter %d has slot %d after %v", i, slot, next.call, next.permit.Slot(), took)
					}
					held[i%k] = next.permit
				}
				for _, p := range held {
					f.release(p)
				}
				f.wantFree(k)
			})
		})
	}
}

// TestQueueOfOneProcess: callers of one process get their permits in order, beside another process that waits.
func TestQueueOfOneProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3, 3)
		a, b := f.process("a"), f.process("b")
		held := f.fill(a)
		var got order
		done := make(chan struct{})
		for c := range 12 {
			s := []*semaphore.Semaphore{a, a, b}[c%3]
			go func() {
				// The turn passes after this event, and before Acquire returns.
				ctx := locktrace.With(t.Context(), &locktrace.Trace{AttemptEnd: func(_ context.Context, e locktrace.AttemptEnd) {
					if e.Err == nil {
						got.add("%d", c%3/2*100+c)
					}
				}})
				p, err := s.Acquire(ctx)
				must(t, err)
				f.begins(p)
				time.Sleep(20 * time.Millisecond)
				f.release(p)
				done <- struct{}{}
			}()
			synctest.Wait()
			time.Sleep(5 * time.Millisecond)
		}
		for _, p := range held {
			f.release(p)
			time.Sleep(5 * time.Millisecond)
		}
		for range 12 {
			<-done
		}
		var ofA, ofB []string
		for _, c := range got.seen() {
			if len(c) == 3 {
				ofB = append(ofB, c)
			} else {
				ofA = append(ofA, c)
			}
		}
		if !slices.Equal(ofA, []string{"0", "1", "3", "4", "6", "7", "9", "10"}) ||
			!slices.Equal(ofB, []string{"102", "105", "108", "111"}) {
			t.Errorf("served in the order %v", got.seen())
		}
		f.wantFree(3)
	})
}

// TestQueuePassesOverTheDead: a waiter whose process has died is passed over, and one that gives up after it was named
// passes the slot on.
func TestQueuePassesOverTheDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3, 2)
		held := f.fill(f.process("holder"))
		dies := f.locker("dies")
		dead := make(chan error)
		go func() {
			_, err := newSemaphore(f, dies, 2).Acquire(t.Context())
			dead <- err
		}()
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan error)
		go func() {
			_, err := f.process("gives up").Acquire(ctx)
			gone <- err
		}()
		synctest.Wait()
		_, got := f.join(2)
		must(t, dies.Close())
		if err := <-dead; !errors.Is(err, lock.ErrClosed) {
			t.Error(err)
		}
		cancel()
		if err := <-gone; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		began := time.Now()
		for i, p := range held {
			f.release(p)
			if next := <-got; next.call != i {
				t.Errorf("waiter %d is served as number %d", next.call, i)
			} else {
				f.release(next.permit)
			}
		}
		if took := time.Since(began); took > 20*time.Millisecond {
			t.Errorf("served after %v", took)
		}
		f.wantFree(2)
	})
}

// TestQueueAfterACrash: permits of a process that died go to those that wait, one TTL later.
func TestQueueAfterACrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3, 3)
		dies := f.locker("dies")
		for range 3 {
			_, err := newSemaphore(f, dies, 3).Acquire(t.Context())
			must(t, err)
		}
		_, got := f.join(4)
		began := time.Now()
		must(t, dies.Close())
		var permits []*semaphore.Permit
		for range 3 {
			permits = append(permits, (<-got).permit)
		}
		if took := time.Since(began); took > lock.DefaultTTL+time.Second {
			t.Errorf("served %v after the crash", took)
		}
		f.release(permits[0])
		f.release((<-got).permit)
		for _, p := range permits[1:] {
			f.release(p)
		}
		f.wantFree(3)
	})
}

// TestQueueWithOneNodeDown: every waiter gets its permit while a node of five is dead or hangs, also if it is
// the one that has the queue.
func TestQueueWithOneNodeDown(t *testing.T) {
	for name, fault := range map[string]func(*memlock.Node){
		"dead": func(n *memlock.Node) { n.Deny(driver.ErrUnreachable) },
		"hung": (*memlock.Node).Freeze,
	} {
		for node := range 5 {
			t.Run(fmt.Sprint(name, node), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := newFleet(t, 5, 2)
					held := f.fill(f.process("holder"))
					_, got := f.join(3)
					fault(f.nodes[node])
					time.Sleep(10 * time.Second) // they look for another queue
					began := time.Now()
					for range 3 {
						f.release(held[0])
						held = append(held[1:], (<-got).permit)
					}
					if took := time.Since(began); took > 5*time.Second {
						t.Errorf("all are served after %v", took)
					}
					f.nodes[node].Deny(nil)
					f.nodes[node].Thaw()
					for _, p := range held {
						f.release(p)
					}
					time.Sleep(time.Second)
					f.wantFree(2)
				})
			})
		}
	}
}

// TestQueueAndResize: waiters learn that there are fewer slots, and those with the new number go on.
func TestQueueAndResize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3, 2)
		nodes := f.locker("resizes", lock.WithMaxTTL(20*time.Second))
		held := f.fill(f.process("holder"))
		errs := make(chan error)
		go func() {
			_, err := f.process("old").Acquire(t.Context())
			errs <- err
		}()
		synctest.Wait()
		must(t, nodes.Resize(t.Context(), "pool", 2, 3))
		if other, ok := errors.AsType[*lock.SlotsError](<-errs); !ok || other.Other != 3 {
			t.Errorf("%v", other)
		}
		s := newSemaphore(t, f.locker("new"), 3)
		p, err := s.Acquire(t.Context())
		must(t, err)
		got := make(chan *semaphore.Permit)
		go func() {
			p, err := s.Acquire(t.Context())
			if err != nil {
				t.Error(err)
			}
			got <- p
		}()
		synctest.Wait()
		f.release(held[0])
		must(t, (<-got).Release(t.Context()))
		must(t, p.Release(t.Context()))
		f.release(held[1])
	})
}

// commands counts the commands of the calls with its context.
type commands struct{ n atomic.Int64 }

func (c *commands) in(ctx context.Context) context.Context {
	return locktrace.With(ctx, &locktrace.Trace{NodeStart: func(ctx context.Context, _ locktrace.NodeStart) context.Context {
		c.n.Add(1)
		return ctx
	}})
}

// TestQueueWakesOne: a hand-off costs two commands however many processes wait. There is one node: of several, one may
// name the next waiter before the others have got the release, which costs another attempt.
func TestQueueWakesOne(t *testing.T) {
	const k, handOffs = 3, 12
	cost := func(waiters int) (n int64) {
		synctest.Test(t, func(t *testing.T) {
			f := newFleet(t, 1, k)
			var sent commands
			ctx, cancel := context.WithCancel(sent.in(t.Context()))
			var held []*semaphore.Permit
			holder := f.process("holder")
			for range k {
				p, err := holder.Acquire(ctx)
				must(t, err)
				held = append(held, p)
			}
			got := make(chan *semaphore.Permit, waiters)
			ended := make(chan struct{}, waiters)
			for range waiters {
				s := f.process("waiter")
				go func() {
					defer func() { ended <- struct{}{} }()
					if p, err := s.Acquire(ctx); err == nil {
						got <- p
					}
				}()
				synctest.Wait()
			}
			before := sent.n.Load()
			for range handOffs {
				must(t, held[0].Release(ctx))
				held = append(held[1:], <-got)
				synctest.Wait()
			}
			n = sent.n.Load() - before
			cancel()
			for range waiters {
				<-ended
			}
			time.Sleep(time.Second)
		})
		return n
	}
	few, many := cost(handOffs+1), cost(60)
	t.Logf("%d hand-offs: %d commands with %d waiters, %d with 60", handOffs, few, handOffs+1, many)
	if few != many || many != 2*handOffs {
		t.Errorf("%d hand-offs cost %d commands with %d waiters and %d with 60", handOffs, few, handOffs+1, many)
	}
}
