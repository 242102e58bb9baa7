package rwlock_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/memlock"
)

// contend lets callers of several processes read and write in turn, and judges every lease.
func (f *fleet) contend(rounds int, fault func()) {
	var callers sync.WaitGroup
	for _, name := range []string{"a", "b", "c"} {
		rw := f.process(name)
		for caller := range 3 {
			callers.Go(func() {
				for round := range rounds {
					acquire, writes := rw.RLock, (caller+round)%3 == 0
					if writes {
						acquire = rw.Lock
					}
					atLeast := f.asks(writes)
					lease, err := acquire(f.Context(), lock.TTL(5*time.Second), lock.MaxWait(time.Minute))
					if err != nil {
						continue // without a quorum
					}
					f.begins(lease, writes, atLeast)
					time.Sleep(rand.N(400 * time.Millisecond))
					f.ends(lease)
					if err := lease.Release(f.Context()); err != nil && !errors.Is(err, lock.ErrNotHeld) &&
						!errors.Is(err, lock.ErrNoQuorum) {
						f.Errorf("release: %v", err)
					}
				}
			})
		}
	}
	fault()
	callers.Wait()
}

func TestPromiseUnderFaults(t *testing.T) {
	for name, fault := range map[string]func(f *fleet){
		"none":   func(*fleet) {},
		"a dead": func(f *fleet) { f.nodes[0].Deny(driver.ErrUnreachable) },
		"a hung": func(f *fleet) { f.nodes[1].Freeze(); time.Sleep(10 * time.Second); f.nodes[1].Thaw() },
		"a slow": func(f *fleet) { f.nodes[2].Delay(150 * time.Millisecond) },
		"each is dead for a while": func(f *fleet) {
			for _, n := range f.nodes {
				time.Sleep(2 * time.Second)
				n.Deny(driver.ErrUnreachable)
				time.Sleep(2 * time.Second)
				n.Deny(nil)
			}
		},
		"each forgets all, and is quarantined": func(f *fleet) {
			for _, n := range f.nodes {
				time.Sleep(2 * time.Second)
				quarantine(n, 6*time.Second)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, 3)
				f.contend(20, func() { fault(f) })
				broken, most := f.verdict()
				if len(broken) > 0 {
					t.Errorf("%d times: %s", len(broken), strings.Join(broken[:min(3, len(broken))], "; "))
				}
				if most < 2 {
					t.Error("no two readers shared the lock")
				}
				w := f.write(f.process("at last"))
				f.release(w)
			})
		})
	}
}

// quarantine makes a node forget all, and keeps it from voting for as long as a lock can live.
func quarantine(n *memlock.Node, d time.Duration) {
	n.Deny(driver.ErrQuarantined)
	n.Forget()
	time.Sleep(d)
	n.Deny(nil)
}

// TestJudgeSeesTwoHolders is the negative control: nodes that forget and vote at once break the promise, and the judge
// notices.
func TestJudgeSeesTwoHolders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		first := f.read(f.process("a"))
		f.begins(first, false, 0)
		f.nodes[0].Forget()
		f.nodes[1].Forget()
		second := f.write(f.process("b"))
		f.begins(second, true, f.asks(true))
		if broken, _ := f.verdict(); len(broken) == 0 {
			t.Error("a writer beside a reader goes unnoticed")
		}
	})
}

// TestJudgeSeesLowFences: so does a fence below an earlier writer's.
func TestJudgeSeesLowFences(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		rw := f.process("a")
		first := f.write(rw)
		f.release(first)
		second := f.read(rw)
		f.begins(second, false, first.Fence()+1<<40)
		if broken, _ := f.verdict(); len(broken) != 1 {
			t.Errorf("%v", broken)
		}
	})
}

// TestReaderFenceAfterAWipe: a node that lost its counter goes on from the clock for a reader, too.
func TestReaderFenceAfterAWipe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		rw := f.process("a")
		w := f.write(rw)
		f.release(w)
		for _, n := range f.nodes {
			n.Forget()
		}
		r := f.read(rw)
		if r.Fence() < w.Fence() {
			t.Errorf("reader %d after writer %d", r.Fence(), w.Fence())
		}
		f.release(r)
	})
}

// TestReaderFenceIsRaised: a reader that finds unequal counters writes the largest back. Otherwise a writer on the
// other two nodes gets the same.
func TestReaderFenceIsRaised(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		rw := f.process("a")
		f.release(f.write(rw))
		f.nodes[2].Deny(driver.ErrUnreachable)
		last := f.write(rw) // on the first two
		f.release(last)
		f.nodes[2].Deny(nil)
		f.nodes[1].Deny(driver.ErrUnreachable)
		r := f.read(rw) // on the first and the last
		f.nodes[1].Deny(nil)
		f.nodes[0].Deny(driver.ErrUnreachable)
		f.release(r)
		w := f.write(rw)
		if r.Fence() < last.Fence() || w.Fence() <= r.Fence() {
			t.Errorf("writer %d, reader %d, writer %d", last.Fence(), r.Fence(), w.Fence())
		}
		f.release(w)
	})
}

// TestLostReaderIsPutBack where nobody is in its way, and it is no vote: one that a quorum has forgotten is lost.
func TestLostReaderIsPutBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		r := f.read(f.process("a"), lock.NoRenew())
		f.nodes[0].Forget()
		must(t, f.extend(r))
		f.nodes[1].Forget()
		must(t, f.extend(r)) // the first node has it again
		f.nodes[0].Forget()
		f.nodes[1].Forget()
		if err := f.extend(r); !errors.Is(err, lock.ErrLost) {
			t.Errorf("forgotten by a quorum: %v", err)
		}
	})
}

// TestLostReaderIsNotPutBack while a writer waits for its place, or after it has written.
func TestLostReaderIsNotPutBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, o := newFleet(t, 3), &order{}
		r := f.read(f.process("a"), lock.NoRenew())
		w := f.later(o, "w", f.process("b").Lock)
		f.nodes[0].Forget()
		time.Sleep(time.Second) // the writer has the node, or asks for it
		must(t, f.extend(r))
		f.nodes[1].Forget()
		f.release(<-w) // it has a quorum without the reader
		if err := f.extend(r); !errors.Is(err, lock.ErrLost) {
			t.Errorf("after the writer: %v", err)
		}
	})
}

// TestCancelledReaderLeavesNothing: a call that gives up on hung nodes is undone when they go on.
func TestCancelledReaderLeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		rw := f.process("a")
		for _, n := range f.nodes {
			n.Freeze()
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if _, err := rw.RLock(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		for _, n := range f.nodes {
			n.Thaw()
		}
		time.Sleep(time.Second)
		w, err := f.process("b").TryLock(t.Context())
		must(t, err)
		f.release(w)
	})
}
