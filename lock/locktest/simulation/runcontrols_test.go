//go:build !race

package simulation

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
)

// apart sets the nodes' counters far ahead of every clock, each to another value, so that the floor hides nothing.
func apart(h *history) {
	for i, s := range h.servers {
		for _, name := range h.plan.locks() {
			s.SetCounter(lock.DefaultPrefix+name, 7e15+uint64(1000*i))
		}
	}
}

// A run of fences must be reserved by the grant. Fences that are only announced are granted again.
func TestSimulationNoticesRunNotReserved(t *testing.T) {
	s := scope{nodes: []int{1, 3, 5}, noWipes: true}
	mustFind(t, "I2", s, plant{prepare: apart,
		wrap: func(_ *history, _ int, n driver.BlockingNode) driver.BlockingNode {
			return unreserved{n}
		}})
}

type unreserved struct{ driver.BlockingNode }

func (n unreserved) Acquire(ctx context.Context, req driver.AcquireRequest) (driver.AcquireReply, error) {
	promised := req.Run
	req.Run = 1
	reply, err := n.BlockingNode.Acquire(ctx, req)
	reply.Run = promised
	return reply, err
}

// The quorum must agree on the end of a run, not on its beginning. If a node that was behind is raised only to the
// token, the next quorum counts from there. If the whole run counts, the simulation finds nothing.
func TestSimulationNoticesRunCountedAtTheGrantsOnly(t *testing.T) {
	s := scope{nodes: []int{3, 5}, noWipes: true}
	planted := func(short bool) plant {
		return plant{prepare: apart, wrap: func(_ *history, _ int, n driver.BlockingNode) driver.BlockingNode {
			return &runs{BlockingNode: n, short: short, of: make(map[string]uint64)}
		}}
	}
	mustFind(t, "I2", s, planted(true))
	found, _, handed := search(t, 1, 300, 1,
		func(seed uint64) (*plan, plant) { return newPlan(seed, s), planted(false) })
	for _, out := range found {
		t.Errorf("whole runs, seed %d:\n%s", out.seed, strings.Join(out.violations, "\n"))
	}
	if handed < 100 {
		t.Errorf("%d leases handed over", handed)
	}
}

// runs reserves runs by raising the counter, also far ahead of the clock.
type runs struct {
	driver.BlockingNode
	short bool // raises to the token instead of the end of its run

	mu sync.Mutex
	of map[string]uint64 // by token
}

func (n *runs) Acquire(ctx context.Context, req driver.AcquireRequest) (driver.AcquireReply, error) {
	run := max(req.Run, 1)
	req.Run = 1
	reply, err := n.BlockingNode.Acquire(ctx, req)
	if err != nil || !reply.Granted {
		return reply, err
	}
	n.mu.Lock()
	n.of[req.Token] = run
	n.mu.Unlock()
	end := driver.RaiseRequest{Key: req.Key, Token: req.Token, Counter: reply.Counter, Fence: reply.Counter + run - 1}
	if raised, err := n.BlockingNode.Raise(ctx, end); err == nil && raised {
		reply.Run = run
	}
	return reply, nil
}

func (n *runs) Raise(ctx context.Context, req driver.RaiseRequest) (bool, error) {
	if n.short {
		n.mu.Lock()
		req.Fence -= n.of[req.Token] - 1
		n.mu.Unlock()
	}
	return n.BlockingNode.Raise(ctx, req)
}

func (n *runs) Extend(ctx context.Context, req driver.ExtendRequest) (driver.ExtendReply, error) {
	req.Refill = false // a refill would write it back, too
	return n.BlockingNode.Extend(ctx, req)
}
