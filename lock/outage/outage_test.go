package outage_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktest/leaktest"
	"github.com/lockscope/lockscope/lock/memlock"
	"github.com/lockscope/lockscope/lock/outage"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// service is a process whose work runs without a lock during an outage.
type service struct {
	t      *testing.T
	nodes  memlock.Nodes
	bare   *memlock.Locker
	locker lock.Locker
	runs   []outage.Run
}

func inService(t *testing.T, f func(s *service)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &service{t: t, nodes: memlock.NewNodes(3)}
		s.bare = s.process()
		s.locker = outage.Wrap(s.bare, func(_ context.Context, r outage.Run) { s.runs = append(s.runs, r) })
		f(s)
		s.nodes.Recover()
	})
}

func (s *service) process(opts ...lock.Option) *memlock.Locker {
	l, err := memlock.New(s.nodes, opts...)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = l.Close() })
	return l
}

// work reports whether it ran.
func (s *service) work(opts ...lock.AcquireOption) (ran bool, err error) {
	err = lock.Do(s.t.Context(), s.locker, "job", func(ctx context.Context, l lock.Lease) error {
		ran = true
		return ctx.Err()
	}, append(opts, lock.MaxWait(time.Second))...)
	return ran, err
}

func (s *service) fail(how func(*memlock.Node)) {
	for _, n := range s.nodes[1:] {
		how(n)
	}
}

func (s *service) freeze(but *memlock.Node) {
	for _, n := range s.nodes {
		if n != but {
			n.Freeze()
		}
	}
}

func down(n *memlock.Node) { n.Deny(driver.ErrUnreachable) }

func deny(err error) func(*memlock.Node) { return func(n *memlock.Node) { n.Deny(err) } }

// TestWhatIsAnOutage: nodes that are down or hang are. A node that may not vote or denies access needs a person, and its
// locks may be valid.
func TestWhatIsAnOutage(t *testing.T) {
	for name, c := range map[string]struct {
		fail func(*memlock.Node)
		want bool
	}{
		"all is well":   {func(*memlock.Node) {}, false},
		"down":          {down, true},
		"hung":          {(*memlock.Node).Freeze, true},
		"denied":        {deny(fmt.Errorf("%w: NOPERM", driver.ErrDenied)), false},
		"in quarantine": {deny(driver.ErrQuarantined), false},
		"a replica":     {deny(driver.ErrReplica), false},
		"overloaded":    {deny(driver.ErrNotSent), false},
	} {
		t.Run(name, func(t *testing.T) {
			inService(t, func(s *service) {
				s.fail(c.fail)
				ran, err := s.work()
				well := name == "all is well"
				if ran != (c.want || well) || (err == nil) != ran || len(s.runs) > 0 != c.want {
					t.Errorf("ran %v, reported %v, %v", ran, s.runs, err)
				}
				if c.want && (s.runs[0].Resource != "job" || !errors.Is(s.runs[0].Err, lock.ErrNoQuorum)) {
					t.Errorf("reported %v", s.runs)
				}
			})
		})
	}
}

// TestNeverWhileANodeSaysThatItIsHeld, however late it says so: the attempt has failed before.
func TestNeverWhileANodeSaysThatItIsHeld(t *testing.T) {
	for _, late := range []time.Duration{0, 100 * time.Millisecond} {
		inService(t, func(s *service) {
			if _, err := s.process().Acquire(s.t.Context(), "job"); err != nil {
				t.Fatal(err)
			}
			synctest.Wait() // the third node has granted it, too
			s.nodes[0].Delay(late)
			s.fail(down)
			if ran, err := s.work(lock.NoWait()); ran || !errors.Is(err, lock.ErrNoQuorum) || len(s.runs) > 0 {
				t.Errorf("answered after %v: ran %v, %v", late, ran, err)
			}
		})
	}
}

// TestAFairCallAsksTheGateFirst: a gate that hangs is one node. It is an outage only if the others also hang.
func TestAFairCallAsksTheGateFirst(t *testing.T) {
	inService(t, func(s *service) {
		held, err := s.process().Acquire(s.t.Context(), "job")
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // all nodes have granted it
		// From now on it listens on the gate.
		if ran, err := s.work(); ran || !errors.Is(err, lock.ErrHeld) {
			t.Fatalf("ran %v, %v", ran, err)
		}
		for _, n := range s.nodes {
			n.Freeze()
			_, err := s.locker.Acquire(s.t.Context(), "job", lock.Fair(), lock.MaxAttempts(1))
			if err == nil || len(s.runs) > 0 {
				t.Errorf("%s hangs: %v, reported %v", n.Name(), err, s.runs)
			}
			n.Thaw()
		}
		for _, left := range s.nodes { // it refuses, but not in each attempt
			s.freeze(left)
			_, err := s.locker.Acquire(s.t.Context(), "job", lock.Fair(), lock.MaxWait(3*time.Second))
			if err == nil || len(s.runs) > 0 {
				t.Errorf("only %s is left: %v, reported %v", left.Name(), err, s.runs)
			}
			s.nodes.Recover()
			time.Sleep(5 * time.Second) // the holder renews its lease
		}
		if err := held.Release(s.t.Context()); err != nil {
			t.Fatal(err)
		}
		s.freeze(nil)
		for seconds := range 7 { // the last attempt before the end may be one at the gate alone, or not
			time.Sleep(time.Second) // earlier calls have ended
			_, err := s.locker.Acquire(s.t.Context(), "job", lock.Fair(), lock.MaxWait(time.Duration(3+seconds)*time.Second))
			if err != nil || len(s.runs) != 1+seconds {
				t.Errorf("all hang: %v, reported %d times", err, len(s.runs))
			}
		}
	})
}

// TestANodeThatWasNotAskedMaySayThatItIsHeld: each attempt asks one gate that hangs, and the call ends before it asks the
// node that knows the holder.
func TestANodeThatWasNotAskedMaySayThatItIsHeld(t *testing.T) {
	for _, nodes := range []int{2, 3} {
		synctest.Test(t, func(t *testing.T) {
			s := &service{t: t, nodes: memlock.NewNodes(nodes)}
			s.bare = s.process()
			s.locker = outage.Wrap(s.bare, func(_ context.Context, r outage.Run) { s.runs = append(s.runs, r) })
			if _, err := s.process().Acquire(t.Context(), "job"); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()             // all nodes have granted it
			for _, n := range s.nodes { // it listens on each gate that hangs below
				if ran, err := s.work(lock.Fair()); ran || !errors.Is(err, lock.ErrHeld) {
					t.Fatalf("ran %v, %v", ran, err)
				}
				n.Freeze()
			}
			s.nodes.Recover()
			for _, left := range s.nodes {
				s.freeze(left)
				_, err := s.locker.Acquire(t.Context(), "job", lock.Fair(), lock.MaxAttempts(nodes-1))
				if err == nil || len(s.runs) > 0 {
					t.Errorf("%d nodes, only %s is left: %v, reported %v", nodes, left.Name(), err, s.runs)
				}
				s.nodes.Recover()
				time.Sleep(5 * time.Second) // the holder renews its lease
			}
		})
	}
}

// TestWhoGetsNoLease: not a call that needs a fence, a slot or a term, one whose ctx has ended, or one that nobody reports.
func TestWhoGetsNoLease(t *testing.T) {
	inService(t, func(s *service) {
		s.fail(down)
		for i, opt := range []lock.AcquireOption{lock.Fenced(), lock.Slots(3), lock.OfKind(lock.KindElection)} {
			if ran, err := s.work(opt); ran || !errors.Is(err, lock.ErrNoQuorum) || len(s.runs) > 0 {
				t.Errorf("option %d: ran %v, %v", i, ran, err)
			}
		}
		ctx, cancel := context.WithTimeout(s.t.Context(), time.Second)
		defer cancel()
		if _, err := s.locker.Acquire(ctx, "job"); !errors.Is(err, context.DeadlineExceeded) || len(s.runs) > 0 {
			t.Errorf("ctx has ended: %v, %v", err, s.runs)
		}
		for _, l := range []lock.Locker{outage.Wrap(s.bare, nil), outage.Wrap(nil, func(context.Context, outage.Run) {})} {
			if _, err := l.Acquire(s.t.Context(), "job", lock.NoWait()); !errors.Is(err, lock.ErrInvalidOption) {
				t.Errorf("incomplete: %v", err)
			}
		}
	})
}

// TestDefaultsOfTheEngine count as the options of a call do.
func TestDefaultsOfTheEngine(t *testing.T) {
	inService(t, func(s *service) {
		s.fail(down)
		wrap := func(defaults ...lock.AcquireOption) lock.Locker {
			return outage.Wrap(s.process(lock.WithDefaults(defaults...)), func(context.Context, outage.Run) {})
		}
		if _, err := wrap(lock.Fenced()).Acquire(s.t.Context(), "job", lock.NoWait()); !errors.Is(err, lock.ErrNoQuorum) {
			t.Errorf("fenced: %v", err)
		}
		synctest.Wait() // the node that can be reached has forgotten that call
		lease, err := wrap(lock.TTL(3*time.Second)).Acquire(s.t.Context(), "job", lock.NoWait())
		if err != nil {
			t.Fatal(err)
		}
		if left := lease.Remaining(); left != 3*time.Second {
			t.Errorf("%v left, want the TTL", left)
		}
	})
}

// TestAWaitThatEndsForAnotherReason is no outage, although the nodes did not answer before.
func TestAWaitThatEndsForAnotherReason(t *testing.T) {
	for _, want := range []error{lock.ErrClosed, lock.ErrDeadlock} {
		inService(t, func(s *service) {
			var leases []lock.Lease
			for _, name := range []string{"job", "other"} {
				lease, err := s.bare.Acquire(s.t.Context(), name, lock.NoWait())
				if err != nil {
					t.Fatal(err)
				}
				leases = append(leases, lease)
			}
			s.nodes.NoQuorum()
			down(s.nodes[0])
			ctx := s.t.Context()
			if want == lock.ErrDeadlock {
				ctx = leases[1].Context()
			}
			done := make(chan error)
			go func() {
				_, err := s.locker.Acquire(ctx, "job", lock.FailOnDeadlock())
				done <- err
			}()
			time.Sleep(100 * time.Millisecond)
			if want == lock.ErrClosed {
				_ = s.bare.Close()
			} else if _, err := s.bare.Acquire(leases[0].Context(), "other", lock.MaxWait(time.Second)); err == nil {
				t.Error("acquired what another call holds")
			}
			if err := <-done; !errors.Is(err, want) || !errors.Is(err, lock.ErrNoQuorum) || len(s.runs) > 0 {
				t.Errorf("%v, want %v after no quorum; reported %v", err, want, s.runs)
			}
		})
	}
}

// TestLeaseWithoutALock: what it says of itself.
func TestLeaseWithoutALock(t *testing.T) {
	inService(t, func(s *service) {
		s.fail(down)
		lease, err := s.locker.Acquire(s.t.Context(), "job", lock.NoWait(), lock.TTL(3*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		if err := lease.Extend(s.t.Context()); lease.Fence() != 0 || lease.Remaining() != 3*time.Second ||
			lease.Resource() != "job" || !errors.Is(err, lock.ErrNoQuorum) {
			t.Errorf("fence %d, %v left of %q, %v", lease.Fence(), lease.Remaining(), lease.Resource(), err)
		}
		for range 2 {
			if err := lease.Release(s.t.Context()); err != nil || !errors.Is(context.Cause(lease.Context()), lock.ErrReleased) ||
				lease.Remaining() != 0 {
				t.Errorf("%v, %v, %v left", err, context.Cause(lease.Context()), lease.Remaining())
			}
		}
	})
}
