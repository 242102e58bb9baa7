package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
)

// uncounted is a node of a system without counters.
type uncounted struct {
	driver.BlockingNode
	raised func()
}

func (n uncounted) Acquire(ctx context.Context, req driver.AcquireRequest) (driver.AcquireReply, error) {
	reply, err := n.BlockingNode.Acquire(ctx, req)
	reply.Counter = 0
	return reply, err
}

func (n uncounted) Raise(context.Context, driver.RaiseRequest) (bool, error) {
	n.raised()
	return false, errors.New("this driver has no counters")
}

// uncountedEngine runs on three nodes without counters, in fake time.
func uncountedEngine(t *testing.T) *engine.Engine {
	var nodes []driver.Node
	for _, name := range []string{"a", "b", "c"} {
		s := locktest.NewFakeServer(name)
		t.Cleanup(s.Close)
		nodes = append(nodes, engine.Async(uncounted{s.Connect(1, locktest.Faults{}),
			func() { t.Error("a node was asked to raise") }}))
	}
	began := time.Now()
	e, err := engine.NewEngine(nodes, engine.WithClock(func() time.Duration { return time.Since(began) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// TestFencedRefusesToGoWithout, at once, and leaves nothing on the nodes.
func TestFencedRefusesToGoWithout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := uncountedEngine(t)
		for _, opts := range [][]lock.AcquireOption{{lock.Fenced()}, {lock.Fenced(), lock.NoWait()}} {
			_, err := e.Acquire(t.Context(), "job", opts...)
			if !errors.Is(err, lock.ErrInvalidOption) || lock.ReasonOf(err) != lock.ReasonInvalid {
				t.Errorf("%v", err)
			}
		}
		lease, err := e.Acquire(t.Context(), "job", lock.NoWait())
		if err != nil {
			t.Fatal(err)
		}
		if err := lease.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestDriverWithoutCounters: leases have fence 0, are renewed and are released.
func TestDriverWithoutCounters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := uncountedEngine(t)
		for range 2 {
			lease, err := e.Acquire(t.Context(), "job", lock.NoWait())
			if err != nil {
				t.Fatal(err)
			}
			if lease.Fence() != 0 {
				t.Errorf("fence %d", lease.Fence())
			}
			time.Sleep(2 * lock.DefaultTTL)
			if err := errors.Join(lease.Extend(t.Context()), lease.Release(t.Context())); err != nil {
				t.Error(err)
			}
		}
	})
}
