package rwlock_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/rwlock"
)

// later acquires in a goroutine, and notes name when it has the lock. The lease is in the channel.
func (f *fleet) later(o *order, name string, acquire func(context.Context, ...lock.AcquireOption) (lock.Lease, error),
	opts ...lock.AcquireOption,
) <-chan lock.Lease {
	got := make(chan lock.Lease, 1)
	go func() {
		lease, err := acquire(f.Context(), opts...)
		if err != nil {
			f.Errorf("%s: %v", name, err)
			return
		}
		o.add(name)
		got <- lease
	}()
	time.Sleep(100 * time.Millisecond) // it queues
	return got
}

// TestFirstComeFirstServed: a writer that waits keeps later readers out, and the readers behind it go on together.
func TestFirstComeFirstServed(t *testing.T) {
	for _, nodes := range []int{1, 3} {
		synctest.Test(t, func(t *testing.T) {
			f, o := newFleet(t, nodes), &order{}
			first := f.read(f.process("first"))
			w1 := f.later(o, "w1", f.process("w1").Lock)
			r1 := f.later(o, "r1", f.process("r1").RLock)
			r2 := f.later(o, "r2", f.process("r2").RLock)
			w2 := f.later(o, "w2", f.process("w2").Lock)
			r3 := f.later(o, "r3", f.process("r3").RLock)
			if seen := o.seen(); len(seen) != 0 {
				t.Fatalf("%d nodes: %v before their turn", nodes, seen)
			}
			if _, err := f.process("newcomer").TryRLock(t.Context()); !errors.Is(err, lock.ErrHeld) {
				t.Errorf("%d nodes: a newcomer: %v", nodes, err)
			}
			f.release(first)
			f.release(<-w1)
			released := time.Now()
			one, two := <-r1, <-r2
			if waited := time.Since(released); waited > 50*time.Millisecond {
				t.Errorf("%d nodes: the readers were not named: %v", nodes, waited)
			}
			f.release(one)
			f.release(two)
			f.release(<-w2)
			f.release(<-r3)
			seen := o.seen()
			slices.Sort(seen[1:3]) // these two in any order
			if !slices.Equal(seen, []string{"w1", "r1", "r2", "w2", "r3"}) {
				t.Errorf("%d nodes: order %v", nodes, seen)
			}
		})
	}
}

// TestReadersDoNotStarveAWriter: there is always a reader, and the writer gets its turn.
func TestReadersDoNotStarveAWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, o := newFleet(t, 3), &order{}
		var readers sync.WaitGroup
		stop := make(chan struct{})
		for i, name := range []string{"a", "b", "c"} {
			rw := f.process(name)
			readers.Go(func() {
				time.Sleep(time.Duration(i) * 300 * time.Millisecond)
				for {
					err := rw.Read(t.Context(), func(context.Context, lock.Lease) error {
						time.Sleep(time.Second)
						return nil
					})
					if err != nil {
						t.Error(err)
					}
					select {
					case <-stop:
						return
					default:
					}
				}
			})
		}
		time.Sleep(2 * time.Second)
		began := time.Now()
		f.release(<-f.later(o, "w", f.process("w").Lock))
		if waited := time.Since(began); waited > 2*time.Second {
			t.Errorf("the writer waited %v for readers of a second", waited)
		}
		close(stop)
		readers.Wait()
	})
}

// TestWriterGivesUp: the readers that it kept out go on at once, beside those that read already.
func TestWriterGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, o := newFleet(t, 3), &order{}
		first := f.read(f.process("first"))
		ctx, cancel := context.WithCancel(t.Context())
		w, gone := f.process("w"), make(chan struct{})
		go func() {
			defer close(gone)
			if _, err := w.Lock(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("the writer: %v", err)
			}
		}()
		time.Sleep(time.Second)
		r := f.later(o, "r", f.process("r").RLock)
		if len(o.seen()) != 0 {
			t.Fatal("a reader has overtaken a writer")
		}
		left := time.Now()
		cancel()
		<-gone
		f.release(<-r)
		if waited := time.Since(left); waited > 50*time.Millisecond {
			t.Errorf("the reader waited %v", waited)
		}
		f.release(first)
	})
}

// TestWriterCrashes while it waits: readers go on when its bars have run out, which other writers do not prolong.
func TestWriterCrashes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, o := newFleet(t, 3), &order{}
		first := f.read(f.process("first"))
		ctx, crash := context.WithCancel(t.Context())
		w, gone := f.process("w"), make(chan struct{})
		go func() {
			defer close(gone)
			_, _ = w.Lock(ctx)
		}()
		time.Sleep(time.Second)
		r := f.later(o, "r", f.process("r").RLock)
		crashed := time.Now()
		f.nodes.NoQuorum() // nobody hears that it left
		f.nodes[0].Deny(driver.ErrUnreachable)
		crash()
		<-gone
		synctest.Wait()
		f.nodes.Recover()
		f.release(<-r)
		if waited := time.Since(crashed); waited > lock.DefaultTTL+time.Second || waited < lock.DefaultTTL-2*time.Second {
			t.Errorf("the reader waited %v for the bar of a crashed writer", waited)
		}
		f.release(first)
	})
}

// TestMaxHoldBoundsAReader, and so the wait of a writer.
func TestMaxHoldBoundsAReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		r := f.read(f.process("r"), lock.MaxHold(5*time.Second))
		began := time.Now()
		f.release(f.write(f.process("w")))
		if waited := time.Since(began); waited > 5*time.Second+lock.DefaultTTL+time.Second ||
			context.Cause(r.Context()) != lock.ErrMaxHold {
			t.Errorf("the writer waited %v; the reader ended with %v", waited, context.Cause(r.Context()))
		}
	})
}

// TestOneProcess: readers and writers of one process take turns in the order of their calls.
func TestOneProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, o := newFleet(t, 3), &order{}
		rw := f.process("a")
		first := f.read(rw)
		second := f.later(o, "r", rw.RLock)
		w := f.later(o, "w", rw.Lock)
		behind := f.later(o, "r2", rw.RLock)
		if seen := o.seen(); !slices.Equal(seen, []string{"r"}) {
			t.Errorf("%v have the lock beside a reader", seen)
		}
		f.release(first)
		f.release(<-second)
		f.release(<-w)
		f.release(<-behind)
		if seen := o.seen(); !slices.Equal(seen, []string{"r", "w", "r2"}) {
			t.Errorf("order %v", seen)
		}
	})
}

// TestALockOfTheSameName excludes readers and writers.
func TestALockOfTheSameName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		l := f.locker("a")
		for _, acquire := range []func(*rwlock.RWLock, ...lock.AcquireOption) lock.Lease{f.read, f.write} {
			lease := acquire(f.process("b"))
			if _, err := l.Acquire(t.Context(), "prices", lock.NoWait()); !errors.Is(err, lock.ErrHeld) {
				t.Errorf("a lock beside a reader or writer: %v", err)
			}
			f.release(lease)
		}
		lease, err := l.Acquire(t.Context(), "prices")
		must(t, err)
		for _, try := range []func(context.Context, ...lock.AcquireOption) (lock.Lease, error){
			f.process("c").TryRLock, f.process("d").TryLock,
		} {
			if _, err := try(t.Context()); !errors.Is(err, lock.ErrHeld) {
				t.Errorf("beside a lock: %v", err)
			}
		}
		f.release(lease)
	})
}
