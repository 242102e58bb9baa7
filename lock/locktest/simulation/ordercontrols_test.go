//go:build !race

package simulation

import (
	"context"
	"regexp"
	"sync"
	"testing"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
)

// A rule of the order that is broken must be noticed, of locks and of semaphores. Nodes name the waiters and keep locks
// for them; on a single node nothing but a lease that runs out excuses a call that overtakes.
func TestSimulationNoticesWrongOrder(t *testing.T) {
	one := []int{1}
	for name, c := range map[string]struct {
		violation string
		scope     scope
		plant     func() plant
	}{
		"the last caller of a process goes first": {"Q1", scope{}, func() plant { return plant{serve: lastFirst} }},
		"a waiter loses its place with each look": {"Q2 a process was named", scope{}, func() plant {
			return plant{wrap: func(_ *history, _ int, n driver.BlockingNode) driver.BlockingNode { return losesPlace{n} }}
		}},
		"a node grants what it keeps for another": {"Q2 a call took", scope{nodes: one}, keepsNothing},
		"a release names nobody": {"Q2 a release named nobody", scope{nodes: one}, func() plant {
			return plant{wrap: func(_ *history, _ int, n driver.BlockingNode) driver.BlockingNode { return silent{n} }}
		}},
		"a fair call is not fair": {"Q2 a fair call", scope{nodes: one}, func() plant {
			return plant{wrap: func(_ *history, _ int, n driver.BlockingNode) driver.BlockingNode { return unfair{silent{n}} }}
		}},
		"a process hands over for long": {"Q3", scope{client: 0.3}, func() plant { return plant{} }},
	} {
		s := c.scope
		s.calm, s.resources, s.crowds = true, 1, true
		is := regexp.MustCompile(": " + c.violation)
		t.Run(name+"/locks", func(t *testing.T) {
			mustMatchIn(t, is, 1, func(seed uint64) (*plan, plant) { return newPlan(seed, s), c.plant() })
		})
		if c.violation == "Q3" {
			continue // it is the same for slots
		}
		t.Run(name+"/semaphores", func(t *testing.T) {
			mustMatchIn(t, is, 1, func(seed uint64) (*plan, plant) {
				return newConstructPlan(seed, lock.KindSemaphore, s), c.plant()
			})
		})
	}
}

// lastFirst lets one caller of a process ask at a time: of those that wait, the one that came last.
func lastFirst(l lock.Locker) lock.Locker {
	return &stack{Locker: l}
}

type stack struct {
	lock.Locker
	mu    sync.Mutex
	busy  bool
	calls []chan struct{}
}

func (s *stack) Acquire(ctx context.Context, resource string, opts ...lock.AcquireOption) (lock.Lease, error) {
	if !lock.NewAcquireOptions(opts...).NoWait {
		s.push(ctx)
		defer s.pop()
	}
	return s.Locker.Acquire(ctx, resource, opts...)
}

func (s *stack) push(ctx context.Context) {
	s.mu.Lock()
	if !s.busy {
		s.busy = true
		s.mu.Unlock()
		return
	}
	turn := make(chan struct{})
	s.calls = append(s.calls, turn)
	s.mu.Unlock()
	if rec := recordOf(ctx); rec != nil {
		rec.lined = true
	}
	<-turn
}

func (s *stack) pop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.calls) - 1
	if s.busy = last >= 0; s.busy {
		close(s.calls[last])
		s.calls = s.calls[:last]
	}
}

// losesPlace leaves the queue before each request that joins it, and has forgotten where it stood.
type losesPlace struct{ driver.BlockingNode }

func (n losesPlace) Acquire(ctx context.Context, req driver.AcquireRequest) (driver.AcquireReply, error) {
	if req.Waiter.Enqueue && req.Waiter.Ticket > 0 {
		_ = n.Leave(ctx, driver.LeaveRequest{Key: req.Key, WaiterID: req.Waiter.ID, Semaphore: req.Semaphore,
			Handoff: handoffWindow})
		req.Waiter.Ticket = 0
	}
	return n.BlockingNode.Acquire(ctx, req)
}

// silent names nobody when it releases.
type silent struct{ driver.BlockingNode }

func (n silent) Release(ctx context.Context, req driver.ReleaseRequest) (driver.ReleaseReply, error) {
	req.Handoff = 0
	return n.BlockingNode.Release(ctx, req)
}

// unfair does not say that a call is fair.
type unfair struct{ silent }

func (n unfair) Acquire(ctx context.Context, req driver.AcquireRequest) (driver.AcquireReply, error) {
	req.Fair = false
	return n.silent.Acquire(ctx, req)
}

// keepsNothing makes nodes that grant to anybody what they keep for one process.
func keepsNothing() plant {
	all := new(waiters)
	return plant{wrap: func(_ *history, _ int, n driver.BlockingNode) driver.BlockingNode { return barging{n, all} }}
}

// waiters are the ids of all processes that wait.
type waiters struct {
	mu  sync.Mutex
	ids []string
}

type barging struct {
	driver.BlockingNode
	all *waiters
}

func (n barging) Subscribe(ctx context.Context, waiterID string, wake func(lockKey string)) error {
	n.all.mu.Lock()
	n.all.ids = append(n.all.ids, waiterID)
	n.all.mu.Unlock()
	return n.BlockingNode.Subscribe(ctx, waiterID, wake)
}

func (n barging) Acquire(ctx context.Context, req driver.AcquireRequest) (driver.AcquireReply, error) {
	reply, err := n.BlockingNode.Acquire(ctx, req)
	n.all.mu.Lock()
	ids := n.all.ids
	n.all.mu.Unlock()
	for _, id := range ids {
		if err != nil || reply.Granted || !reply.Reserved {
			break
		}
		as := req
		as.Waiter.ID, as.Fair = id, true // so that the node reads the id
		reply, err = n.BlockingNode.Acquire(ctx, as)
	}
	return reply, err
}
