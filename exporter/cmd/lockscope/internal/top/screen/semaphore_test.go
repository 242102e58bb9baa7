package screen

import (
	"reflect"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// TestJoinSlots: the slots of one semaphore are one row, with all waiters and all holders. Another semaphore, and a lock
// with the name of a slot, keep their rows.
func TestJoinSlots(t *testing.T) {
	rate := 2.0
	slot := func(name string, callers int, longest time.Duration, taken ...Slot) Resource {
		return Resource{Set: "redis", Name: name, Kind: lock.KindSemaphore, Slots: 3, InUse: len(taken), Callers: callers,
			Processes: 1, Longest: longest, Taken: taken, Class: "holder", Waiters: []Waiter{{Waited: longest}}}
	}
	a, b := slotOf("jobs#0", "a"), slotOf("jobs#2", "b")
	second, third := slot("jobs#2", 1, time.Second, a, b), slot("jobs#0", 3, time.Minute, a, b)
	second.Holder, third.Holder = &b.Lock, &a.Lock
	third.Chain, third.Rate = []Link{{Resource: "order"}}, &rate
	set := Set{Resources: []Resource{
		second, {Name: "order", Callers: 1, Holder: &a.Lock, Chain: []Link{{Resource: "jobs#0", Holder: "a"}}}, third, slot("pool#0", 1, 0), {Name: "tag#1", Callers: 1},
	}}
	set.JoinSlots()
	var names []string
	for _, r := range set.Resources {
		names = append(names, r.Name)
	}
	if want := []string{"jobs", "order", "pool", "tag#1"}; !reflect.DeepEqual(names, want) {
		t.Fatalf("rows %q, want %q", names, want)
	}
	r := &set.Resources[0]
	if r.Callers != 4 || r.Processes != 2 || r.Longest != time.Minute || r.InUse != 2 || len(r.Taken) != 2 ||
		r.Taken[0].Resource != "jobs#0" || r.Taken[0].WaitsFor != "order" || r.Holder != nil || r.Chain != nil ||
		len(r.Waiters) != 2 || r.Waiters[0].Waited != time.Minute || *r.Rate != 2 {
		t.Errorf("%+v", r)
	}
	if c := set.Resources[1].Chain; len(c) != 1 || c[0] != (Link{Resource: "jobs", AnySlot: true}) {
		t.Errorf("the chain to a semaphore: %+v", c)
	}
	if b := (&Snapshot{Sets: []Set{set}}).WorstBlocker(); b.Callers != 0 {
		t.Errorf("one holder of a slot blocks nobody alone: %+v", b)
	}
	snap := &Snapshot{Sets: []Set{set}}
	if rows := snap.Rows(ByName, "b"); len(rows) != 1 || rows[0].Name != "jobs" {
		t.Errorf("the filter for a holder of a slot finds %d rows", len(rows))
	}
	if set.JoinSlots(); len(set.Resources) != 4 {
		t.Errorf("%d rows after a second call", len(set.Resources))
	}
}

// TestJoinStuckSlots: a deadlock through a semaphore keeps its chain. Slots whose holders are not known are not counted.
func TestJoinStuckSlots(t *testing.T) {
	chain := []Link{{Resource: "order", Holder: "b"}}
	set := Set{Resources: []Resource{
		{Name: "jobs#0", Kind: lock.KindSemaphore, InUse: -1, OnlyPages: true},
		{Name: "jobs#1", Kind: lock.KindSemaphore, InUse: -1, Holder: heldBy("a", 5, 0), Chain: chain, Deadlock: true},
	}}
	set.JoinSlots()
	r := set.Resources[0]
	if len(set.Resources) != 1 || !r.Deadlock || !reflect.DeepEqual(r.Chain, chain) || r.InUse != -1 || r.OnlyPages ||
		!reflect.DeepEqual(r.Holders(), []string{"a"}) {
		t.Errorf("%+v", set.Resources)
	}
}
