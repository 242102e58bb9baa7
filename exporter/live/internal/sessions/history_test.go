package sessions

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock/locktrace"
)

var start = time.Date(2026, 11, 24, 2, 0, 0, 0, time.UTC)

func at(second int) time.Time { return start.Add(time.Duration(second) * time.Second) }

func wait(resource, holder string) *Wait {
	return &Wait{Backend: "redis", Resource: resource, Instance: "web-1", CallSite: "web/cart.go:10",
		Class: locktrace.WaitHolder, Holder: holder, HolderSite: "bill/run.go:7"}
}

func times(n int, w *Wait) (all []*Wait) {
	for range n {
		all = append(all, w)
	}
	return all
}

func join(all ...[]*Wait) (joined []*Wait) {
	for _, some := range all {
		joined = append(joined, some...)
	}
	return joined
}

// TestBetween samples two holders for ten seconds each, with a few calls without a quorum after that.
func TestBetween(t *testing.T) {
	h := New(start)
	for s := 1; s <= 10; s++ {
		h.Sample(at(s), join(times(3, wait("order", "bill-1")), times(1, wait("stock", "bill-1"))))
	}
	for s := 11; s <= 20; s++ {
		h.Sample(at(s), times(1, wait("order", "audit-1")))
	}
	for s := 21; s <= 30; s++ {
		h.Sample(at(s), times(2, &Wait{Resource: "order", Backend: "redis", Class: locktrace.WaitNoQuorum}))
	}
	h.Sample(at(31), nil)
	d := h.Between(at(60), start, at(60))
	if d.Waited != 70 || d.Bucket != 1 || d.Buckets != 60 || !d.CompleteFrom.Equal(start) {
		t.Errorf("%d s of waiting in %d buckets of %d s, complete from %v", d.Waited, d.Buckets, d.Bucket, d.CompleteFrom)
	}
	if len(d.Classes) != 2 || d.Classes[0].Class != "holder" || d.Classes[0].Waited != 50 ||
		d.Classes[1].Class != "no_quorum" || d.Classes[1].Buckets[21] != 2 || d.Classes[1].Buckets[31] != 0 {
		t.Errorf("classes %+v", d.Classes)
	}
	if len(d.Blockers) != 2 || len(d.Resources) != 2 {
		t.Fatalf("blockers %+v, resources %+v", d.Blockers, d.Resources)
	}
	b := d.Blockers[0]
	if b.Holder != "bill-1" || b.CallSite != "bill/run.go:7" || b.Waited != 40 || !b.First.Equal(at(1)) ||
		!b.Last.Equal(at(10)) || b.Of != 2 || b.Buckets[10] != 4 || b.Buckets[11] != 0 {
		t.Errorf("blocker %+v", b)
	}
	want := []state.WaitedPart{{Backend: "redis", Resource: "order", Waited: 30},
		{Backend: "redis", Resource: "stock", Waited: 10}}
	if !reflect.DeepEqual(b.Resources, want) {
		t.Errorf("resources of the blocker %+v", b.Resources)
	}
	r := d.Resources[0]
	classes := map[string]int{"holder": 40, "no_quorum": 20}
	if r.Resource != "order" || r.Waited != 60 || !reflect.DeepEqual(r.Classes, classes) || len(r.Blockers) != 2 ||
		r.Blockers[1].Instance != "audit-1" {
		t.Errorf("resource %+v", r)
	}
	if part := h.Between(at(60), at(5), at(15)); part.Waited != 6*4+4 {
		t.Errorf("from second 5 to second 15: %d s of waiting", part.Waited)
	}
}

// TestUnderWay: a run that goes on counts up to the last sample.
func TestUnderWay(t *testing.T) {
	h := New(start)
	for s := 1; s <= 5; s++ {
		h.Sample(at(s), times(2, wait("order", "bill-1")))
	}
	if d := h.Between(at(6), at(-60), at(6)); d.Waited != 10 || d.Blockers[0].Buckets[d.Buckets-1] != 4 {
		t.Errorf("%+v", d)
	}
	if h.ended.n != 0 || len(h.open) != 1 {
		t.Errorf("%d runs ended, %d are open", h.ended.n, len(h.open))
	}
}

// TestLateTimer: a run survives a few seconds without a sample, which then count, and no longer ones.
func TestLateTimer(t *testing.T) {
	h := New(start)
	for _, s := range []int{1, 2, 5, 6, 30, 31} {
		h.Sample(at(s), times(1, wait("order", "bill-1")))
	}
	if d := h.Between(at(60), start, at(60)); d.Waited != 6+2 {
		t.Errorf("%d s of waiting", d.Waited)
	}
}

// TestChains: the holder of the first resource waits for the second one.
func TestChains(t *testing.T) {
	h := New(start)
	w := wait("order", "bill-1")
	w.Next = &Wait{Backend: "redis", Resource: "stock", Instance: "bill-1", CallSite: "bill/run.go:9", Holder: "stock-1"}
	for s := 1; s <= 3; s++ {
		h.Sample(at(s), times(2, w))
	}
	h.Sample(at(4), nil)
	chains := h.Chains(at(5), start, at(5))
	if len(chains) != 1 || chains[0].Waited != 6 || chains[0].Class != "holder" || len(chains[0].Links) != 2 ||
		chains[0].Links[1] != (state.PastLink{Resource: "stock", Backend: "redis", Instance: "bill-1",
			CallSite: "bill/run.go:9", Holder: "stock-1"}) {
		t.Errorf("%+v", chains)
	}
	if b := h.Between(at(5), start, at(5)).Blockers[0]; len(b.WaitsFor) != 1 || b.WaitsFor[0].Resource != "stock" {
		t.Errorf("the blocker waits for %+v", b.WaitsFor)
	}
}

// TestHour: after an hour without waits nothing is left, neither runs nor states nor names.
func TestHour(t *testing.T) {
	h := New(start)
	w := wait("order", "bill-1")
	w.Next = wait("stock", "stock-1")
	h.Sample(at(1), times(70_000, w)) // more than a run can count
	h.Sample(at(2), times(1, wait("audit", "bill-1")))
	h.Sample(at(3), times(1, wait("audit", "bill-1")))
	h.Sample(at(4), nil)
	if d := h.Between(at(5), start, at(5)); d.Waited != 70_002 {
		t.Errorf("%d s of waiting", d.Waited)
	}
	d := h.Between(at(3700), start, at(3700))
	if d.Waited != 0 || !d.CompleteFrom.Equal(at(40)) || len(d.Blockers) != 0 || d.Blockers == nil || d.Classes == nil {
		t.Errorf("%+v", d)
	}
	if h.ended.n != 0 || h.states.len() != 1 || h.states.names.len() != 1 || h.states.bytes != 0 {
		t.Errorf("%d runs, %d states, %d names of %d bytes are left", h.ended.n, h.states.len(), h.states.names.len(),
			h.states.bytes)
	}
}

// TestClockSetBack: seconds count by the monotonic clock, and are shown by the clock of now.
func TestClockSetBack(t *testing.T) {
	now := time.Now() // has a monotonic reading
	h := New(now)
	h.Sample(now.Add(time.Second), times(1, wait("order", "bill-1")))
	later := now.Add(10 * time.Second)
	if d := h.Between(later, later.Add(-10*time.Second), later); d.Waited != 1 {
		t.Errorf("%+v", d)
	}
}

// TestNoRoom: if the waits of one sample are more than there is room for, the others are counted together.
func TestNoRoom(t *testing.T) {
	h := New(start)
	var all []*Wait
	for i := range maxStates + 1000 {
		all = append(all, wait(fmt.Sprint("order:", i), "bill-1"))
	}
	h.Sample(at(1), all)
	h.Sample(at(2), nil)
	d := h.Between(at(3), start, at(3))
	if d.Waited != len(all) || d.Resources[0].Resource != Other || d.Resources[0].Waited < 1000 ||
		!d.CompleteFrom.Equal(start) {
		t.Errorf("%d s of waiting, most for %+v; complete from %v", d.Waited, d.Resources[0], d.CompleteFrom)
	}
}
