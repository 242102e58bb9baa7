package live_test

import (
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/memlock"
	"github.com/lockscope/lockscope/lock/redlock"
)

// crossing holds one lock and waits for another.
type crossing struct {
	outer lock.Locker
	holds string
	inner lock.Locker
	waits string
}

// cross makes calls hold locks, and then wait until the test ends.
func cross(t *testing.T, all ...crossing) {
	t.Helper()
	var leases []lock.Lease
	for _, c := range all {
		leases = append(leases, acquire(t, c.outer, c.holds))
	}
	for i, c := range all {
		done := acquireAsync(leases[i].Context(), c.inner, c.waits)
		t.Cleanup(func() { _ = leases[i].Release(t.Context()); <-done })
	}
}

// TestADeadlockOverEngines of one process, on the same servers, whatever names these have.
func TestADeadlockOverEngines(t *testing.T) {
	for name, second := range map[string]string{"of one name": "orders", "of two names": "stock"} {
		t.Run(name, func(t *testing.T) {
			servers := locktest.Servers(t, 3)
			board := newBoard(t)
			x := wrap(t, board, onRedis(t, servers, lock.WithBackend("orders")))
			y := wrap(t, board, onRedis(t, servers, lock.WithBackend(second)))
			cross(t, crossing{x, "order", x, "stock"}, crossing{y, "stock", y, "order"})
			eventually(t, "the page shows the deadlock", func() bool {
				d := stateOf(board).Deadlocks
				return len(d) == 1 && !d[0].Over && len(d[0].Cycle) == 2
			})
		})
	}
}

// TestEnginesOfOneNameOnOtherKeysAreNoDeadlock: the same name with another prefix, in another database or on other
// servers is another lock.
func TestEnginesOfOneNameOnOtherKeysAreNoDeadlock(t *testing.T) {
	for name, other := range map[string]func(memlock.Nodes) (memlock.Nodes, lock.Option){
		"another prefix": func(n memlock.Nodes) (memlock.Nodes, lock.Option) { return n, lock.WithPrefix("job:") },
		"other servers": func(memlock.Nodes) (memlock.Nodes, lock.Option) {
			return memlock.NewNodes(1), lock.WithBackend("memory")
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				board := newBoard(t)
				nodes := memlock.NewNodes(1)
				others, opt := other(nodes)
				open := func(nodes memlock.Nodes, opts ...lock.Option) lock.Locker {
					engine, err := memlock.New(nodes, append(opts, lock.WithInstance("orders/1"))...)
					must(t, err)
					t.Cleanup(func() { must(t, engine.Close()) })
					return engine
				}
				x, y := wrap(t, board, open(nodes)), wrap(t, board, open(others, opt))
				outside := open(nodes)
				stock, order := acquire(t, outside, "stock"), acquire(t, outside, "order")
				cross(t, crossing{y, "order", x, "stock"}, crossing{y, "stock", x, "order"})
				settle(time.Second)
				stateOf(board)
				settle(time.Second)
				s := stateOf(board)
				if len(s.Blocked) != 2 || len(s.Deadlocks) != 0 {
					t.Errorf("deadlocks %+v, blocked %+v", s.Deadlocks, s.Blocked)
				}
				if len(s.Held) != 2 || s.Held[0].Backend == s.Blocked[0].Backend {
					t.Errorf("what is held there looks like what is waited for here: %+v, %+v", s.Held, s.Blocked)
				}
				must(t, stock.Release(t.Context()))
				must(t, order.Release(t.Context()))
			})
		})
	}
}

// TestNodesOfEnginesOfOneName that use other servers are sets of their own: the quorum of one says nothing about the
// other's.
func TestNodesOfEnginesOfOneName(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		board, first, second := newBoard(t), memlock.NewNodes(3), memlock.NewNodes(3)
		orders, stock := newMemory(t, board, first, "orders/1"), newMemory(t, board, second, "stock/2")
		must(t, acquire(t, orders, "job").Release(t.Context()))
		second.NoQuorum()
		if _, err := stock.Acquire(t.Context(), "job", lock.NoWait()); err == nil {
			t.Error("acquired without a quorum")
		}
		settle(time.Second)
		s := stateOf(board)
		if len(s.Sets) != 2 || len(s.Nodes) != 6 {
			t.Fatalf("sets %+v, nodes %+v", s.Sets, s.Nodes)
		}
		for i, voting := range []int{3, 1} {
			set := s.Sets[i]
			if want := []string{"memory", "memory (2)"}[i]; set.Backend != want || set.Nodes != 3 || set.Quorum != 2 ||
				set.Voting != voting || set.NoQuorum != (voting < 2) {
				t.Errorf("set %d, which should be %s with %d votes: %+v", i, want, voting, set)
			}
		}
	})
}

// TestRestartsOfNodesOfEnginesOfOneName: each set shows the restarts of its own nodes.
func TestRestartsOfNodesOfEnginesOfOneName(t *testing.T) {
	board := newBoard(t)
	for _, server := range locktest.Servers(t, 2) {
		engine, err := redlock.Open([]string{"redis://" + server.Addr()}, lock.WithNodeTimeout(nodeTimeout))
		must(t, err)
		t.Cleanup(func() { must(t, engine.Close()) })
		must(t, acquire(t, wrap(t, board, engine), "order:1001").Release(t.Context()))
	}
	s := stateOf(board)
	if len(s.Nodes) != 2 || s.Nodes[0].Backend != "redis" || s.Nodes[1].Backend != "redis (2)" ||
		s.Nodes[0].Restart == nil || s.Nodes[1].Restart == nil {
		t.Errorf("nodes %+v", s.Nodes)
	}
}
