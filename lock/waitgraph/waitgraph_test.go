package waitgraph_test

import (
	"slices"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/records"
	"github.com/lockscope/lockscope/lock/waitgraph"
)

var start = time.Unix(1763700000, 0)

func held(name string, fence uint64, instance string, waiters ...records.Waiting) waitgraph.Resource {
	return waitgraph.Resource{
		Name: name, Waiters: waiters,
		Lease: &waitgraph.Lease{Fence: fence, Holder: lock.Holder{Instance: instance}},
	}
}

func waits(instance string, after time.Duration, holds ...lock.HeldLease) records.Waiting {
	return records.Waiting{Holder: lock.Holder{Instance: instance, Since: start.Add(after)}, Callers: 2, Holds: holds}
}

func TestChain(t *testing.T) {
	g := waitgraph.New(
		held("order", 5, "p1", waits("p3", time.Second), waits("p4", 2*time.Second)),
		// The fence is above the grant's: the lease was handed over inside p1.
		held("stock", 7, "p2", waits("p1", 0, lock.HeldLease{Resource: "order", Fence: 6})),
		held("truck", 9, "p5", waits("p2", 0, lock.HeldLease{Resource: "stock", Fence: 7})),
	)
	if got, want := g.Chain("order"), []string{"stock", "truck"}; !slices.Equal(got, want) {
		t.Errorf("chain %v, want %v", got, want)
	}
	if w, ok := g.Waiter("order", "stock"); !ok || w.Instance != "p1" {
		t.Errorf("who holds order and waits for stock: %+v, %v", w, ok)
	}
	if w, ok := g.Waiter("order", "truck"); ok {
		t.Errorf("who holds order and waits for truck: %+v", w)
	}
	if got := g.Resource("order").Callers(); got != 4 {
		t.Errorf("%d callers", got)
	}
	if got := g.Resource("order").Longest(); !got.Equal(start.Add(time.Second)) {
		t.Errorf("longest since %v", got)
	}
	var names []string
	for _, r := range g.Contended(start.Add(time.Minute)) {
		names = append(names, r.Name)
	}
	if want := []string{"order", "stock", "truck"}; !slices.Equal(names, want) { // two processes wait for the first one
		t.Errorf("contended %v, want %v", names, want)
	}
	if got := g.Cycles(); got != nil {
		t.Errorf("cycles %v", got)
	}
	if got := g.Chain("unknown"); got != nil {
		t.Errorf("chain of an unknown resource: %v", got)
	}
}

// TestWhatIsNoEdge: a lease of another process, and an earlier lease.
func TestWhatIsNoEdge(t *testing.T) {
	g := waitgraph.New(
		held("a", 5, "p1", waits("p2", 0, lock.HeldLease{Resource: "b", Fence: 7})),
		held("b", 7, "p2", waits("p1", 0, lock.HeldLease{Resource: "a", Fence: 4}),
			waits("p3", 0, lock.HeldLease{Resource: "a", Fence: 5})),
	)
	if got := g.Cycles(); got != nil {
		t.Errorf("cycles %v", got)
	}
}

func TestCyclesAndDeadlocks(t *testing.T) {
	ring := func(fence uint64) *waitgraph.Graph {
		return waitgraph.New(
			held("c", 3, "p3", waits("p2", 0, lock.HeldLease{Resource: "b", Fence: 2})),
			held("a", fence, "p1", waits("p3", 0, lock.HeldLease{Resource: "c", Fence: 3})),
			held("b", 2, "p2", waits("p1", 0, lock.HeldLease{Resource: "a", Fence: fence})),
			held("self", 9, "p9", waits("p9", 0, lock.HeldLease{Resource: "self", Fence: 9})),
			held("behind", 1, "p4", waits("p5", 0)), // waits behind the ring without being in it
			held("a", fence, "p1", waits("p4", 0, lock.HeldLease{Resource: "behind", Fence: 1})),
		)
	}
	want := []string{`"a" (fence 1) waits for "b" (fence 2) waits for "c" (fence 3) waits for "a"`,
		`"self" (fence 9) waits for "self"`}
	if got := texts(ring(1).Cycles()); !slices.Equal(got, want) {
		t.Errorf("cycles\n%q, want\n%q", got, want)
	}
	if got := ring(1).Chain("behind"); !slices.Equal(got, []string{"a", "b", "c", "a"}) {
		t.Errorf("chain %v", got)
	}
	var w waitgraph.Watch
	for i, look := range []struct {
		g    *waitgraph.Graph
		want []string
	}{{ring(1), nil}, {ring(1), want}, {ring(4), want[1:]}, {waitgraph.New(), nil}, {ring(4), nil}} {
		if got := texts(w.Deadlocks(look.g)); !slices.Equal(got, look.want) {
			t.Errorf("look %d: %q, want %q", i, got, look.want)
		}
	}
}

func texts(all []lock.DeadlockError) (s []string) {
	for _, d := range all {
		s = append(s, d.String())
	}
	return s
}

// TestAnotherSetOfNodes: a lock of the same name on other nodes is another lock.
func TestAnotherSetOfNodes(t *testing.T) {
	g := waitgraph.New(held("order", 5, "p1",
		waits("p1", 0, lock.HeldLease{Resource: "order", Fence: 6, Backend: "postgresql"})))
	if got := g.Cycles(); got != nil {
		t.Errorf("cycles %v", got)
	}
}
