package engine_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/memlock"
)

func newMemLocker(t *testing.T, nodes memlock.Nodes, opts ...lock.Option) *memlock.Locker {
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

// TestHeldIsHeldWithNodesDown: while a tolerated minority is dead or hangs, the error names the holder. Once a majority
// is, nobody can hold the lock, and the error names the nodes.
func TestHeldIsHeldWithNodesDown(t *testing.T) {
	for _, c := range []struct {
		nodes, down int
		want        error
	}{{3, 0, lock.ErrHeld}, {3, 1, lock.ErrHeld}, {3, 2, lock.ErrNoQuorum}, {5, 1, lock.ErrHeld}, {5, 2, lock.ErrHeld},
		{5, 3, lock.ErrNoQuorum}} {
		for how, fail := range map[string]func(*memlock.Node){
			"dead": func(n *memlock.Node) { n.Deny(driver.ErrUnreachable) },
			"hung": func(n *memlock.Node) { n.Freeze() },
		} {
			t.Run(fmt.Sprintf("%d of %d %s", c.down, c.nodes, how), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					nodes := memlock.NewNodes(c.nodes)
					holder, err := newMemLocker(t, nodes, lock.WithInstance("the holder")).Acquire(t.Context(), "job")
					if err != nil {
						t.Fatal(err)
					}
					other := newMemLocker(t, nodes)
					synctest.Wait() // every node has answered
					for _, n := range nodes[:c.down] {
						fail(n)
					}
					for i := range 10 { // half a second each: the lease is valid to the end
						_, err := other.Acquire(t.Context(), "job", lock.NoWait())
						if !errors.Is(err, c.want) {
							t.Fatalf("acquire %d: %v, want %v", i, err, c.want)
						}
						var held *lock.HeldError
						if c.want == lock.ErrHeld && (!errors.As(err, &held) || held.Holder.Instance != "the holder") {
							t.Fatalf("acquire %d does not say who holds it: %v", i, err)
						}
					}
					nodes.Recover()
					if err := holder.Release(t.Context()); err != nil {
						t.Error(err)
					}
				})
			})
		}
	}
}

// TestAHungGateCostsMilliseconds: a process that met waiters a moment ago asks the gate first. It waits for a hung gate
// no longer than several times its usual latency.
func TestAHungGateCostsMilliseconds(t *testing.T) {
	for hung := range 3 {
		synctest.Test(t, func(t *testing.T) {
			nodes := memlock.NewNodes(3)
			a, b := newMemLocker(t, nodes), newMemLocker(t, nodes)
			first, err := a.Acquire(t.Context(), "job")
			if err != nil {
				t.Fatal(err)
			}
			second := make(chan lock.Lease, 1)
			go func() {
				lease, err := b.Acquire(t.Context(), "job")
				if err != nil {
					t.Error(err)
				}
				second <- lease
			}()
			synctest.Wait()
			if err := first.Release(t.Context()); err != nil { // its reply reports a waiter
				t.Fatal(err)
			}
			holder := <-second
			synctest.Wait()
			if err := holder.Extend(t.Context()); err != nil { // so that every node has it
				t.Fatal(err)
			}
			synctest.Wait()
			nodes[hung].Freeze()
			began := time.Now()
			_, err = a.Acquire(t.Context(), "job", lock.NoWait())
			if took := time.Since(began); !errors.Is(err, lock.ErrHeld) || took > 50*time.Millisecond {
				t.Errorf("node %d hangs: after %v: %v", hung+1, took, err)
			}
			nodes.Recover()
			if err := holder.Release(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestTheHolderHasMostNodes: a failed vote may keep one node for longer than the holder keeps the others. It is not
// reported as the holder.
func TestTheHolderHasMostNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := memlock.NewNodes(3)
		holder, err := newMemLocker(t, nodes, lock.WithInstance("the holder")).Acquire(t.Context(), "job",
			lock.TTL(5*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		nodes[2].Forget()
		time.Sleep(time.Second)
		stray, err := newMemLocker(t, nodes[2:], lock.WithInstance("somebody")).Acquire(t.Context(), "job",
			lock.TTL(time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		_, err = newMemLocker(t, nodes).Acquire(t.Context(), "job", lock.NoWait())
		var held *lock.HeldError
		if !errors.As(err, &held) || held.Holder.Instance != "the holder" {
			t.Errorf("%v, want one that names the holder of two nodes", err)
		}
		nodes[1].Freeze()
		_, err = newMemLocker(t, nodes).Acquire(t.Context(), "job", lock.NoWait())
		if !errors.As(err, &held) || held.Holder.Instance != "the holder" || held.Refused != 2 || held.Named != 1 {
			t.Errorf(
				"%+v, want one that names who holds for longer: one node of the two that refused did so in that name",
				held)
		}
		nodes.Recover()
		for _, lease := range []lock.Lease{stray, holder} {
			if err := lease.Release(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
}
