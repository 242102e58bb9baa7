package engine_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// withoutVote is a node that does not answer acquires.
type withoutVote struct{ driver.BlockingNode }

func (withoutVote) Acquire(context.Context, driver.AcquireRequest) (driver.AcquireReply, error) {
	return driver.AcquireReply{}, errors.New("down")
}

// lateRelease is a node that releases reach late.
type lateRelease struct {
	driver.BlockingNode
	by time.Duration
}

func (n lateRelease) Release(ctx context.Context, req driver.ReleaseRequest) (driver.ReleaseReply, error) {
	time.Sleep(n.by)
	return n.BlockingNode.Release(ctx, req)
}

// TestReleaseDuringAWastedGrant: the holder does not have the gate's vote, so a waiter is granted there, which takes it
// out of the queue, and refused elsewhere. The holder's release comes before the waiter is back in the queue, and names
// nobody. The waiter looks again soon after it is back, instead of waiting for a poll interval.
func TestReleaseDuringAWastedGrant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var servers []*locktest.FakeServer
		for i := range 3 {
			servers = append(servers, locktest.NewFakeServer(fmt.Sprint("node", i)))
			t.Cleanup(servers[i].Close)
		}
		gate := ""
		process := func(id uint64, atGate func(driver.BlockingNode) driver.BlockingNode) *engine.Engine {
			var nodes []driver.Node
			for _, s := range servers {
				var n driver.BlockingNode = s.Connect(id, locktest.Faults{})
				if n.Name() == gate {
					n = atGate(n)
				}
				nodes = append(nodes, engine.Async(n))
			}
			e, err := engine.NewEngine(nodes)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = e.Close() })
			return e
		}
		gate = gateOf(t, process(1, nil), process(2, nil), "job")
		holder := process(3, func(n driver.BlockingNode) driver.BlockingNode { return withoutVote{n} })
		waiter := process(4, func(n driver.BlockingNode) driver.BlockingNode {
			return lateRelease{n, 20 * time.Millisecond}
		})
		held, err := holder.Acquire(t.Context(), "job")
		if err != nil {
			t.Fatal(err)
		}
		attempts := make(chan int, 10)
		ctx := locktrace.With(t.Context(), &locktrace.Trace{
			AttemptEnd: func(_ context.Context, e locktrace.AttemptEnd) { attempts <- e.Attempt },
		})
		got := make(chan time.Time)
		go func() {
			lease, err := waiter.Acquire(ctx, "job")
			if err != nil {
				t.Error(err)
				close(got)
				return
			}
			got <- time.Now()
			_ = lease.Release(t.Context())
		}()
		for <-attempts < 2 { // with the second one it queues, and its grant is taken back 20 ms later
		}
		if err := held.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		released := time.Now()
		if took := (<-got).Sub(released); took > 100*time.Millisecond {
			t.Errorf("acquired %v after the release", took)
		}
	})
}

// gateOf is the node whose queue a waiter for the resource joins.
func gateOf(t *testing.T, holder, waiter *engine.Engine, resource string) (gate string) {
	t.Helper()
	held, err := holder.Acquire(t.Context(), resource)
	if err != nil {
		t.Fatal(err)
	}
	subscribed := make(chan string, 1)
	ctx := locktrace.With(t.Context(), &locktrace.Trace{
		NodeEnd: func(_ context.Context, e locktrace.NodeEnd) {
			if e.Op == lock.OpSubscribe {
				subscribed <- e.Node
			}
		},
	})
	served := make(chan error)
	go func() {
		lease, err := waiter.Acquire(ctx, resource)
		if err == nil {
			err = lease.Release(t.Context())
		}
		served <- err
	}()
	gate = <-subscribed
	if err := errors.Join(held.Release(t.Context()), <-served); err != nil {
		t.Fatal(err)
	}
	return gate
}
