package memlock_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/leaktest"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/lock/memlock"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func newLocker(t testing.TB, nodes memlock.Nodes, opts ...lock.Option) *memlock.Locker {
	t.Helper()
	l, err := memlock.New(nodes, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func TestConformance(t *testing.T) {
	beside := driver.Capabilities{Peek: true, Revoke: true, Keep: true, Readers: true}
	each, one := beside, beside
	each.Slots, one.Slots, one.SlotQueue = true, true, true
	for name, c := range map[string]struct {
		nodes int
		serve memlock.Semaphores
		can   driver.Capabilities
	}{
		"1": {1, memlock.OneQueue, one}, "3": {3, memlock.OneQueue, one},
		"a queue a slot": {3, memlock.EachQueue, each}, "no slots": {3, memlock.NoSlots, beside},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			locktest.Run(t, locktest.Driver{
				Start: func(testing.TB) locktest.Maker {
					nodes := memlock.NewNodes(c.nodes)
					nodes.Serve(c.serve)
					return func(t testing.TB, opts ...lock.Option) lock.Locker { return newLocker(t, nodes, opts...) }
				},
				Capabilities: c.can,
			})
		})
	}
}

// inBubble runs f in fake time on n nodes.
func inBubble(t *testing.T, n int, f func(t *testing.T, nodes memlock.Nodes, l *memlock.Locker)) {
	synctest.Test(t, func(t *testing.T) {
		nodes := memlock.NewNodes(n)
		f(t, nodes, newLocker(t, nodes))
	})
}

func acquire(t *testing.T, l lock.Locker, opts ...lock.AcquireOption) lock.Lease {
	t.Helper()
	lease, err := l.Acquire(t.Context(), "job", opts...)
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

func TestALeaseIsLostOnOrder(t *testing.T) {
	for _, n := range []int{1, 3} {
		inBubble(t, n, func(t *testing.T, _ memlock.Nodes, l *memlock.Locker) {
			lease, began := acquire(t, l), time.Now()
			if err := l.Lose("job"); err != nil {
				t.Fatal(err)
			}
			if cause := context.Cause(lease.Context()); !errors.Is(cause, lock.ErrLost) || time.Since(began) > time.Millisecond {
				t.Errorf("%d nodes: cause %v after %v", n, cause, time.Since(began))
			}
			if err := lease.Release(t.Context()); !errors.Is(err, lock.ErrNotHeld) {
				t.Errorf("release: %v", err)
			}
			if next := acquire(t, l, lock.NoWait()); next.Fence() <= lease.Fence() {
				t.Errorf("fence %d after %d", next.Fence(), lease.Fence())
			}
			if err := l.Lose("other"); !errors.Is(err, lock.ErrNotHeld) {
				t.Errorf("losing what is not held: %v", err)
			}
		})
	}
}

func TestDoTellsOfTheLoss(t *testing.T) {
	inBubble(t, 3, func(t *testing.T, _ memlock.Nodes, l *memlock.Locker) {
		err := lock.Do(t.Context(), l, "job", func(ctx context.Context, _ lock.Lease) error {
			if err := l.Lose("job"); err != nil {
				return err
			}
			<-ctx.Done()
			return nil
		})
		if !errors.Is(err, lock.ErrLost) {
			t.Errorf("got %v", err)
		}
	})
}

func TestNoQuorumAndRecovery(t *testing.T) {
	inBubble(t, 3, func(t *testing.T, nodes memlock.Nodes, l *memlock.Locker) {
		lease, began := acquire(t, l), time.Now()
		nodes.NoQuorum()
		if _, err := l.Acquire(t.Context(), "other", lock.NoWait()); !errors.Is(err, lock.ErrNoQuorum) ||
			!errors.Is(err, driver.ErrUnreachable) {
			t.Errorf("acquire: %v", err)
		}
		<-lease.Context().Done()
		if cause, took := context.Cause(lease.Context()), time.Since(began); !errors.Is(cause, lock.ErrLost) ||
			took > lock.DefaultTTL {
			t.Errorf("cause %v after %v", cause, took)
		}
		nodes.Recover()
		acquire(t, l)
	})
}

func TestOneNodeDeniesFreezesOrIsSlow(t *testing.T) {
	for name, fault := range map[string]func(*memlock.Node){
		"denies":  func(n *memlock.Node) { n.Deny(driver.ErrDenied) },
		"frozen":  (*memlock.Node).Freeze,
		"slow":    func(n *memlock.Node) { n.Delay(time.Hour) },
		"forgets": (*memlock.Node).Forget,
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, 3, func(t *testing.T, nodes memlock.Nodes, l *memlock.Locker) {
				fault(nodes[1])
				lease := acquire(t, l)
				time.Sleep(2 * lock.DefaultTTL) // long enough for renewals
				if err := lease.Release(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestFrozenNodesForgetNothing: requests that reached a frozen node take effect later, and those given up meanwhile
// leave no lock behind.
func TestFrozenNodesForgetNothing(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, nodes memlock.Nodes, l *memlock.Locker) {
		other := newLocker(t, nodes)
		nodes[0].Freeze()
		nodes[0].Freeze()
		if _, err := l.Acquire(t.Context(), "job", lock.NoWait()); !errors.Is(err, driver.ErrTimeout) {
			t.Errorf("acquire: %v", err)
		}
		nodes[0].Thaw()
		nodes[0].Thaw()
		lease := acquire(t, other, lock.MaxWait(lock.DefaultTTL/2))
		if err := lease.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestWaitersAreNamed: a hand-over between two lockers needs no poll.
func TestWaitersAreNamed(t *testing.T) {
	inBubble(t, 3, func(t *testing.T, nodes memlock.Nodes, l *memlock.Locker) {
		other := newLocker(t, nodes, lock.WithPollInterval(time.Hour))
		lease := acquire(t, l)
		got := make(chan lock.Lease)
		go func() {
			next, _ := other.Acquire(t.Context(), "job")
			got <- next
		}()
		time.Sleep(time.Second)
		released := time.Now()
		if err := lease.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		next := <-got
		if next == nil || time.Since(released) > 100*time.Millisecond {
			t.Fatalf("got %v after %v", next, time.Since(released))
		}
		if err := next.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestBackendIsNamed(t *testing.T) {
	l := newLocker(t, memlock.NewNodes(1), lock.WithBackend("orders"))
	var told []locktrace.Backend
	ctx := locktrace.With(t.Context(), &locktrace.Trace{
		AcquireEnd: func(_ context.Context, e locktrace.AcquireEnd) { told = append(told, e.Backend) },
		NodeEnd:    func(_ context.Context, e locktrace.NodeEnd) { told = append(told, e.Backend) },
	})
	lease, err := l.Acquire(ctx, "job")
	if err != nil {
		t.Fatal(err)
	}
	if err := lease.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(told) < 2 {
		t.Fatal(told)
	}
	for _, b := range told {
		if b != (locktrace.Backend{System: "memory", Name: "orders", Keyspace: told[0].Keyspace}) || b.Keyspace == "" {
			t.Errorf("told of %+v", b)
		}
	}
}

func TestBadInputIsRefused(t *testing.T) {
	if _, err := memlock.New(nil); !errors.Is(err, lock.ErrInvalidNode) {
		t.Errorf("no nodes: %v", err)
	}
	nodes := memlock.NewNodes(1)
	if _, err := memlock.New(append(nodes, nodes...)); !errors.Is(err, driver.ErrDuplicate) {
		t.Errorf("one node twice: %v", err)
	}
	if _, err := memlock.New(nodes, struct{ lock.DriverOption }{}); !errors.Is(err, lock.ErrInvalidOption) {
		t.Errorf("another driver's option: %v", err)
	}
}

// TestNamesOfNodes are those that the caller gave, as with every driver.
func TestNamesOfNodes(t *testing.T) {
	nodes := memlock.NewNodes(2)
	l := newLocker(t, nodes, lock.WithNodeNames("redis-1", "redis-2"))
	nodes.NoQuorum()
	_, err := l.Acquire(t.Context(), "job", lock.NoWait())
	e, ok := errors.AsType[*lock.QuorumError](err)
	if !ok || len(e.Votes) != 2 || e.Votes[0].Node != "redis-1" || e.Votes[1].Node != "redis-2" {
		t.Errorf("the nodes are called otherwise: %v", err)
	}
}

// TestASpentWaitSaysWhetherTheLockIsHeld: behind callers that wait for a lease of this process, it is; while nodes have not
// answered, nobody knows.
func TestASpentWaitSaysWhetherTheLockIsHeld(t *testing.T) {
	inBubble(t, 3, func(t *testing.T, nodes memlock.Nodes, l *memlock.Locker) {
		lease, next := acquire(t, l), make(chan lock.Lease)
		go func() { next <- acquire(t, l) }()
		synctest.Wait()
		_, err := l.Acquire(t.Context(), "job", lock.MaxWait(time.Second))
		held, ok := errors.AsType[*lock.HeldError](err)
		if !errors.Is(err, lock.ErrMaxWait) || !ok || held.Holder.Instance == "" {
			t.Errorf("behind a lease of this process: %v", err)
		}
		if err := errors.Join(lease.Release(t.Context()), (<-next).Release(t.Context())); err != nil {
			t.Fatal(err)
		}
		nodes[0].Freeze()
		nodes[1].Freeze()
		_, err = l.Acquire(t.Context(), "other job", lock.MaxWait(time.Millisecond))
		if !errors.Is(err, lock.ErrMaxWait) || errors.Is(err, lock.ErrHeld) {
			t.Errorf("on nodes that have not answered: %v", err)
		}
		nodes.Recover()
	})
}
