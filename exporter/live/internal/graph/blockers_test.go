package graph

import (
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/calls"
	"github.com/lockscope/lockscope/exporter/live/internal/profile"
	"github.com/lockscope/lockscope/exporter/live/internal/text"
	"github.com/lockscope/lockscope/exporter/live/internal/timeline"
	"github.com/lockscope/lockscope/exporter/live/internal/waits"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/decorate"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/lock/memlock"
)

// TestAVoteOfAWaiterIsNoHolder: one waiter asked only the gate, which still had the vote of another waiter's attempt. A
// third waiter was refused by many nodes, which named the holder.
func TestAVoteOfAWaiterIsNoHolder(t *testing.T) {
	refused := func(by string, nodes int) *lock.HeldError {
		return &lock.HeldError{Holder: lock.Holder{Instance: by}, Nodes: 3, Refused: nodes, Named: nodes,
			Remaining: time.Minute}
	}
	for name, test := range map[string]struct {
		told *lock.HeldError
		want string
	}{
		"the vote of one who waits":                                      {refused("orders/0", 1), "billing/7"},
		"the gate in the holder's name":                                  {refused("billing/7", 1), "billing/7"},
		"the gate in somebody else's name":                               {refused("stock/3", 1), "stock/3"},
		"many in the name of one who waits, but who may have a namesake": {refused("orders/0", 2), "orders/0"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRegister()
			c := &contention{ID: text.ID{Resource: "job"}}
			s := &scene{now: time.Now(), wanted: map[text.ID]*contention{c.ID: c}}
			for i, told := range []*lock.HeldError{nil, refused("billing/7", 2), test.told} {
				m := r.Begin(t.Context(), newOwner(r, []string{"orders/0", "orders/1", "orders/2"}[i]), "job")
				view := calls.View{Hooked: true, Progress: calls.Progress{
					Doing: locktrace.WaitHolder, Blocker: told, AsOf: s.now.Sub(m.Began),
				}}
				c.waiters = append(c.waiters, &calls.Waiter{Lease: m, View: view})
			}
			w := c.waiters[2]
			w.WaitStart(locktrace.WaitStart{Kind: locktrace.WaitLocal}) // with a waiter, ends of leases are recorded
			if got := s.blockerOf(c, w); got == nil || got.Holder != test.want {
				t.Errorf("it waits for %+v, want %s", got, test.want)
			}
		})
	}
}

// TestAHolderThatIsDone is not said to have missed a renewal, however little is left of its minimum hold.
func TestAHolderThatIsDone(t *testing.T) {
	r, now := newRegister(), time.Now()
	m := r.Begin(t.Context(), newOwner(r, "orders/0"), "job")
	for _, done := range []bool{false, true} {
		told := &lock.HeldError{Holder: lock.Holder{Instance: "stock/3", Done: done}, Remaining: time.Second}
		w := &calls.Waiter{Lease: m, View: calls.View{Progress: calls.Progress{Blocker: told, Full: time.Minute}}}
		b := heldElsewhere(w, "orders/0", now)
		if b.Done != done || (b.Unrenewed == nil) != done {
			t.Errorf("done %v: %+v", done, b)
		}
	}
}

// TestTwoRefusalsInTwoNames: a waiter was refused by a node that had not yet received an earlier holder's release, and
// by a node that names the present holder, whose lease is on the same page.
func TestTwoRefusalsInTwoNames(t *testing.T) {
	for named, want := range map[int]string{1: "orders/1", 2: "stock/3"} {
		r := newRegister()
		owner, other := newOwner(r, "orders/1"), newOwner(r, "orders/1")
		held := r.Begin(t.Context(), owner, "job").Acquired(newLease(t))
		now := held.HeldAt.Add(time.Second)
		w := &calls.Waiter{Lease: r.Begin(t.Context(), other, "job"), View: calls.View{Hooked: true}}
		w.Progress = calls.Progress{
			Doing: locktrace.WaitHolder, AsOf: now.Sub(w.Began),
			Blocker: &lock.HeldError{Holder: lock.Holder{Instance: "stock/3"}, Nodes: 3, Refused: 2, Named: named},
		}
		c := &contention{
			ID: text.ID{Resource: "job"}, waiters: []*calls.Waiter{w},
			holders: []holder{{held, state.Held{Holder: owner.Instance}}},
		}
		s := &scene{now: now, wanted: map[text.ID]*contention{c.ID: c}}
		if got := s.blockerOf(c, w); got == nil || got.Holder != want {
			t.Errorf("%d of 3 nodes named another: it waits for %+v, want %s", named, got, want)
		}
	}
}

func newRegister() *calls.Register {
	return calls.NewRegister(waits.New(time.Minute), timeline.NewSlowest(0), profile.New(0), 0)
}

// newOwner returns a locker of the register with a name.
func newOwner(r *calls.Register, instance string) *calls.Owner {
	r.Instances.Add(instance)
	return &calls.Owner{Instance: instance, Layer: decorate.NewLayer(&locktrace.Trace{}), Records: &r.Records}
}

// newLease returns a lease of another Locker.
func newLease(t *testing.T) lock.Lease {
	t.Helper()
	l, err := memlock.New(memlock.NewNodes(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	lease, err := l.Acquire(t.Context(), "job")
	if err != nil {
		t.Fatal(err)
	}
	return lease
}
