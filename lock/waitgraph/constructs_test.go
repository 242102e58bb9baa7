package waitgraph_test

import (
	"slices"
	"testing"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/records"
	"github.com/lockscope/lockscope/lock/waitgraph"
)

// waitsAs is a waiter for a lock of a kind.
func waitsAs(kind lock.Kind, slots int, instance string, holds ...lock.HeldLease) records.Waiting {
	w := waits(instance, 0, holds...)
	w.Kind, w.Slots = kind, slots
	return w
}

func lease(resource string, fence uint64) lock.HeldLease {
	return lock.HeldLease{Resource: resource, Fence: fence}
}

// TestASetWaitsForOneLock: a process that holds some locks of a set and waits for one more is one waiter with one
// wait.
func TestASetWaitsForOneLock(t *testing.T) {
	set := waitsAs(lock.KindSet, 0, "p1", lease("a", 1), lease("b", 2))
	g := waitgraph.New(held("a", 1, "p1", waits("p2", 0, lease("c", 3))), held("b", 2, "p1"), held("c", 3, "p2", set))
	for _, resource := range []string{"a", "b"} {
		if got := g.WaitsFor(resource); !slices.Equal(got, []string{"c"}) {
			t.Errorf("the holder of %s waits for %v, want c", resource, got)
		}
	}
	if n := len(g.Resource("c").Waiters); n != 1 {
		t.Errorf("%d waiters for c, want one", n)
	}
	want := []string{`"a" (fence 1) waits for "c" (fence 3) waits for "a"`}
	if got := texts(g.Cycles()); !slices.Equal(got, want) {
		t.Errorf("cycles %q, want %q", got, want)
	}
}

// TestDeadlockThroughKinds: the leader waits for a lock whose holder waits for the election.
func TestDeadlockThroughKinds(t *testing.T) {
	leader := waits("p1", 0, lease("leader", 4))
	candidate := waitsAs(lock.KindElection, 0, "p2", lease("stock", 9))
	g := waitgraph.New(held("leader", 4, "p1", candidate), held("stock", 9, "p2", leader))
	want := []string{`"leader" (fence 4) waits for "stock" (fence 9) waits for "leader"`}
	if got := texts(g.Cycles()); !slices.Equal(got, want) {
		t.Errorf("cycles %q, want %q", got, want)
	}
}

// TestSemaphore: a caller in the queue of one slot waits for any of the slots. p9 holds "order" and queues for the
// first slot.
func TestSemaphore(t *testing.T) {
	permit := waitsAs(lock.KindSemaphore, 2, "p9", lease("order", 5))
	behindOrder := func(slot string, fence uint64, instance string) records.Waiting {
		return waits(instance, 0, lease(slot, fence))
	}
	for name, c := range map[string]struct {
		graph  []waitgraph.Resource
		cycles []string
		chain  []string // from the slot's waiter's lock
	}{
		"one slot's holder waits, the other's works": {
			[]waitgraph.Resource{held("order", 5, "p9", behindOrder("jobs#0", 1, "p1")),
				held("jobs#0", 1, "p1", permit), held("jobs#1", 2, "p2")},
			nil, []string{"jobs#0"},
		},
		"the other slot is free, or its holder unknown": {
			[]waitgraph.Resource{held("order", 5, "p9", behindOrder("jobs#0", 1, "p1")), held("jobs#0", 1, "p1", permit)},
			nil, []string{"jobs#0"},
		},
		"both holders wait for the waiter": {
			[]waitgraph.Resource{
				held("order", 5, "p9", behindOrder("jobs#0", 1, "p1"), behindOrder("jobs#1", 2, "p2")),
				held("jobs#0", 1, "p1", permit), held("jobs#1", 2, "p2")},
			[]string{`"jobs#0" (fence 1) waits for "order" (fence 5) waits for "jobs#0"`,
				`"jobs#1" (fence 2) waits for "order" (fence 5) waits for "jobs#1"`},
			[]string{"jobs#0", "order"},
		},
		"the other holder waits behind a lock whose holder works": {
			[]waitgraph.Resource{
				held("order", 5, "p9", behindOrder("jobs#0", 1, "p1")), held("stock", 7, "p7", behindOrder("jobs#1", 2, "p2")),
				held("jobs#0", 1, "p1", permit), held("jobs#1", 2, "p2")},
			nil, []string{"jobs#0", "order"},
		},
		"the other holder is stuck elsewhere": {
			[]waitgraph.Resource{
				held("order", 5, "p9", behindOrder("jobs#0", 1, "p1")), held("jobs#0", 1, "p1", permit),
				held("jobs#1", 2, "p2", waits("p2", 0, lease("jobs#1", 2)))},
			[]string{`"jobs#0" (fence 1) waits for "order" (fence 5) waits for "jobs#0"`,
				`"jobs#1" (fence 2) waits for "jobs#1"`},
			[]string{"jobs#0", "order"},
		},
		"two semaphores, and one slot of the second is free": {
			[]waitgraph.Resource{
				held("order", 5, "p9"), held("jobs#0", 1, "p1", permit), held("jobs#1", 2, "p2"),
				held("mails#0", 3, "p9", waitsAs(lock.KindSemaphore, 2, "p1", lease("jobs#0", 1)),
					waitsAs(lock.KindSemaphore, 2, "p2", lease("jobs#1", 2)))},
			nil, []string{"jobs#0", "mails#0"},
		},
	} {
		g := waitgraph.New(c.graph...)
		if got := texts(g.Cycles()); !slices.Equal(got, c.cycles) {
			t.Errorf("%s: cycles\n%q, want\n%q", name, got, c.cycles)
		}
		if got := g.Stuck("order"); got != (c.cycles != nil) || g.Stuck("jobs#0") != got {
			t.Errorf("%s: callers for the order are stuck: %v, for the first slot: %v", name, got, g.Stuck("jobs#0"))
		}
		if got := g.Chain("order"); !slices.Equal(got[:min(len(got), 2)], c.chain) {
			t.Errorf("%s: chain %q, want %q", name, got, c.chain)
		}
	}
}
