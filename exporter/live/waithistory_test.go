package live_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/live"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/memlock"
)

// last is the history of the last d.
func last(b *live.Board, d time.Duration) state.WaitHistory {
	return b.WaitHistory(time.Now().Add(-d), time.Now())
}

// TestWaitHistory: a caller waits for a lease whose holder waits for that of another process.
func TestWaitHistory(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		nodes := memlock.NewNodes(3)
		board := newBoard(t, live.WithInstance("orders/1"))
		here, there := newMemory(t, board, nodes, "orders/1"), newMemory(t, newBoard(t), nodes, "billing/2")
		stock, order := acquire(t, there, "stock"), acquire(t, here, "order")
		time.Sleep(time.Minute)
		inner, outer := acquireAsync(order.Context(), here, "stock"), acquireAsync(t.Context(), here, "order")
		settle(20*time.Second + 500*time.Millisecond)
		must(t, stock.Release(t.Context()))
		must(t, (<-inner).lease.Release(t.Context()))
		must(t, order.Release(t.Context()))
		must(t, (<-outer).lease.Release(t.Context()))
		settle(time.Hour - 10*time.Minute)

		d := last(board, time.Hour)
		if d.Instance != "orders/1" || d.Waited != 40 || len(d.Classes) != 1 || d.Classes[0].Class != "holder" {
			t.Errorf("%d s of waiting, classes %+v", d.Waited, d.Classes)
		}
		if len(d.Blockers) != 2 || len(d.Resources) != 2 {
			t.Fatalf("blockers %+v, resources %+v", d.Blockers, d.Resources)
		}
		for _, b := range d.Blockers {
			want := map[string]string{"billing/2": "stock", "orders/1": "order"}[b.Holder]
			if b.Waited != 20 || b.CallSite == "" || b.Resources[0].Resource != want || b.Waiters[0].CallSite == "" ||
				b.Waiters[0].Instance != "orders/1" || b.Last.Sub(b.First) != 19*time.Second {
				t.Errorf("blocker %+v", b)
			}
			if (len(b.WaitsFor) == 1 && b.WaitsFor[0].Resource == "stock") != (want == "order") {
				t.Errorf("%s waits for %+v", b.Holder, b.WaitsFor)
			}
		}
		checkChains(t, board.WaitChains(d.From, d.To))
		if d := last(board, time.Minute); d.Waited != 0 || len(board.WaitChains(d.From, d.To)) != 0 {
			t.Errorf("in the last minute: %+v", d)
		}
	})
}

func checkChains(t *testing.T, chains []state.WaitChain) {
	t.Helper()
	i := slices.IndexFunc(chains, func(c state.WaitChain) bool { return c.Links[0].Resource == "order" })
	if len(chains) != 2 || i < 0 || chains[i].Waited != 20 || len(chains[i].Links) != 2 {
		t.Fatalf("%+v", chains)
	}
	waiter, blocker := chains[i].Links[0], chains[i].Links[1]
	if waiter.Holder != "orders/1" || waiter.HolderSite == "" || blocker.Resource != "stock" ||
		blocker.Instance != "orders/1" || blocker.CallSite == "" || blocker.Holder != "billing/2" ||
		blocker.HolderSite == "" {
		t.Errorf("%+v", chains[i].Links)
	}
}

// TestHistoryAgreesWithState: the blockers and classes of a sample are those of the waiters of a State.
func TestHistoryAgreesWithState(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		nodes := memlock.NewNodes(3)
		board := newBoard(t, live.WithInstance("orders/1"))
		here, there := newMemory(t, board, nodes, "orders/1"), newMemory(t, newBoard(t), nodes, "billing/2")
		leases := []lock.Lease{acquire(t, there, "stock"), acquire(t, here, "order")}
		ctx, cancel := context.WithCancel(t.Context())
		var waiting []<-chan acquisition
		for range 20 {
			waiting = append(waiting, acquireAsync(ctx, here, "stock"), acquireAsync(ctx, here, "order"))
		}
		settle(1500 * time.Millisecond)
		now := make(map[string]int)
		for _, w := range stateOf(board).Waiting {
			now[strings.Join([]string{w.Resource, w.Class, w.Blocker.Holder, w.Blocker.CallSite}, " ")]++
		}
		sampled := make(map[string]int)
		for _, c := range board.WaitChains(time.Now().Add(-time.Minute), time.Now()) {
			l := c.Links[0]
			sampled[strings.Join([]string{l.Resource, c.Class, l.Holder, l.HolderSite}, " ")] += c.Waited
		}
		if len(now) != 2 || len(sampled) != 2 {
			t.Errorf("the state has %v, the sample %v", now, sampled)
		}
		for of, n := range now {
			if sampled[of] != n {
				t.Errorf("%s: %d in the sample, %d in the state", of, sampled[of], n)
			}
		}
		cancel()
		for _, w := range waiting {
			<-w
		}
		for _, l := range leases {
			must(t, l.Release(t.Context()))
		}
	})
}

// TestHistoryWithoutHooks: a Locker that reports nothing is sampled, too, and a short call is not.
func TestHistoryWithoutHooks(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		board := newBoard(t)
		waits := wrap(t, board, &slow{times: []time.Duration{5500 * time.Millisecond}})
		passes := wrap(t, board, &slow{times: []time.Duration{20 * time.Millisecond, 20 * time.Millisecond}})
		waiting := acquireAsync(t.Context(), waits, "order")
		time.Sleep(3990 * time.Millisecond)
		must(t, acquire(t, passes, "order").Release(t.Context())) // beside one that waits, as a sample is taken
		must(t, (<-waiting).lease.Release(t.Context()))
		time.Sleep(490 * time.Millisecond)
		must(t, acquire(t, passes, "order").Release(t.Context())) // alone
		settle(time.Minute)
		d := last(board, 5*time.Minute)
		if d.Waited != 5 || len(d.Classes) != 1 || d.Classes[0].Class != "unknown" || len(d.Blockers) != 0 {
			t.Errorf("%+v", d)
		}
	})
}

// TestHistoryOfBackends: one name on two sets of nodes is two resources.
func TestHistoryOfBackends(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		board := newBoard(t)
		ctx, cancel := context.WithCancel(t.Context())
		var waiting []<-chan acquisition
		for i, name := range []string{"eu", "us"} {
			engine, err := memlock.New(memlock.NewNodes(1), lock.WithBackend(name))
			must(t, err)
			t.Cleanup(func() { must(t, engine.Close()) })
			l := wrap(t, board, engine)
			acquire(t, l, "order")
			for range i + 1 {
				waiting = append(waiting, acquireAsync(ctx, l, "order"))
			}
		}
		settle(10500 * time.Millisecond)
		cancel()
		for _, w := range waiting {
			<-w
		}
		r := last(board, time.Minute).Resources
		if len(r) != 2 || r[0].Backend != "us" || r[0].Waited != 20 || r[1].Backend != "eu" || r[1].Waited != 10 {
			t.Errorf("%+v", r)
		}
	})
}

// TestHistoryOfNoQuorum: no holder is to blame while two of three nodes hang.
func TestHistoryOfNoQuorum(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		servers := newServers(t, 3)
		board, l := process(t, servers, "orders/1")
		must(t, acquire(t, l, "order").Release(t.Context()))
		servers[0].Crash()
		servers[1].Crash()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		if _, err := l.Acquire(ctx, "order"); err == nil {
			t.Fatal("acquired without a quorum")
		}
		settle(2 * time.Second)
		d := last(board, time.Minute)
		if d.Waited < 19 || len(d.Blockers) != 0 || d.Resources[0].Classes["no_quorum"] < 18 {
			t.Errorf("%+v", d)
		}
	})
}

// TestHistoryOnServers: on real servers, another process holds a lock from one time to another.
func TestHistoryOnServers(t *testing.T) {
	servers := locktest.Servers(t, 3)
	board := newBoard(t, live.WithInstance("orders-1"))
	here := wrap(t, board, onRedis(t, servers, lock.WithInstance("orders-1"), lock.WithCallSites()))
	there := onRedis(t, servers, lock.WithInstance("billing-2"), lock.WithCallSites())
	held := acquire(t, there, "order:1001")
	from := time.Now()
	waiting := acquireAsync(t.Context(), here, "order:1001")
	eventually(t, "three samples", func() bool { return last(board, time.Minute).Waited >= 3 })
	must(t, held.Release(t.Context()))
	got := <-waiting
	must(t, got.err)
	to := time.Now()
	must(t, got.lease.Release(t.Context()))
	d := board.WaitHistory(from, to.Add(time.Second))
	if len(d.Blockers) == 0 || d.Blockers[0].Holder != "billing-2" || d.Blockers[0].Waited < 1 ||
		!strings.Contains(d.Blockers[0].CallSite, "helpers_test.go:") || d.Resources[0].Resource != "order:1001" {
		t.Errorf("%+v", d)
	}
	if first, end := d.Blockers[0].First, d.Blockers[0].Last; first.Before(from) || end.After(to) {
		t.Errorf("from %v to %v, want between %v and %v", first, end, from, to)
	}
}
