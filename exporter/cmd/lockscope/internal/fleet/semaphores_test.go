package fleet

import (
	"reflect"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/listing"
)

func heldSlot(name, instance string) HeldSlot {
	return HeldSlot{Lock: listing.Lock{Resource: name, Nodes: 5, Of: 5, Hold: inspect.Hold{Holder: lock.Holder{Instance: instance}}}}
}

// TestJoinSlots: the slots of one semaphore are one row, with all waiters and all holders. Another semaphore, and a lock
// with the name of a slot, keep their rows.
func TestJoinSlots(t *testing.T) {
	rate := 2.0
	slot := func(name string, callers int, longest time.Duration, taken ...HeldSlot) Row {
		return Row{Set: "redis", Name: name, Kind: lock.KindSemaphore, Slots: 3, InUse: len(taken), Callers: callers,
			Processes: 1, Longest: longest, Taken: taken, Class: "holder", Waiters: []Process{{Waited: longest}}}
	}
	a, b := heldSlot("jobs#0", "a"), heldSlot("jobs#2", "b")
	second, third := slot("jobs#2", 1, time.Second, a, b), slot("jobs#0", 3, time.Minute, a, b)
	second.Holder, third.Holder = &b.Lock, &a.Lock
	third.Chain, third.Rate = []Link{{Resource: "order"}}, &rate
	rows := joinSlots([]Row{
		second, {Set: "redis", Name: "order", Callers: 1, Holder: &a.Lock, Chain: []Link{{Resource: "jobs#0", Holder: "a"}}},
		third, slot("pool#0", 1, 0), {Name: "tag#1", Callers: 1},
	})
	var names []string
	for _, r := range rows {
		names = append(names, r.Name)
	}
	if want := []string{"jobs", "order", "pool", "tag#1"}; !reflect.DeepEqual(names, want) {
		t.Fatalf("rows %q, want %q", names, want)
	}
	r := &rows[0]
	if r.Callers != 4 || r.Processes != 2 || r.Longest != time.Minute || r.InUse != 2 || len(r.Taken) != 2 ||
		r.Taken[0].Resource != "jobs#0" || r.Taken[0].WaitsFor != "order" || r.Holder != nil || r.Chain != nil ||
		len(r.Waiters) != 2 || r.Waiters[0].Waited != time.Minute || *r.Rate != 2 {
		t.Errorf("%+v", r)
	}
	if c := rows[1].Chain; len(c) != 1 || c[0] != (Link{Resource: "jobs", AnySlot: true}) {
		t.Errorf("the chain to a semaphore: %+v", c)
	}
}

// TestJoinStuckSlots: a deadlock through a semaphore keeps its chain. Slots whose holders are not known are not counted.
func TestJoinStuckSlots(t *testing.T) {
	a, chain := heldSlot("jobs#1", "a"), []Link{{Resource: "order", Holder: "b"}}
	rows := joinSlots([]Row{
		{Name: "jobs#0", Kind: lock.KindSemaphore, InUse: -1, OnlyPages: true},
		{Name: "jobs#1", Kind: lock.KindSemaphore, InUse: -1, Holder: &a.Lock, Chain: chain, Deadlock: true},
	})
	r := rows[0]
	if len(rows) != 1 || !r.Deadlock || !reflect.DeepEqual(r.Chain, chain) || r.InUse != -1 || r.OnlyPages ||
		!reflect.DeepEqual(r.Holders(), []string{"a"}) {
		t.Errorf("%+v", rows)
	}
}
