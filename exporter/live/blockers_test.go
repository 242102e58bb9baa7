package live

import (
	"context"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// TestAVoteOfAWaiterIsNoHolder has one waiter asked the gate alone, which still had the vote of another waiter's attempt, while a third was
// refused by many nodes in the name of who holds the lock.
func TestAVoteOfAWaiterIsNoHolder(t *testing.T) {
	refused := func(by string, nodes int) *lock.HeldError {
		return &lock.HeldError{Holder: lock.Holder{Instance: by}, Nodes: 3, Refused: nodes, Named: nodes, Remaining: time.Minute}
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
			board, err := New()
			if err != nil {
				t.Fatal(err)
			}
			c := &contention{id: id{resource: "job"}}
			l := &look{board: board, now: time.Now(), wanted: map[id]*contention{c.id: c}}
			for i, told := range []*lock.HeldError{nil, refused("billing/7", 2), test.told} {
				owner := &locker{board: board, instance: []string{"orders/0", "orders/1", "orders/2"}[i]}
				if _, err := board.Wrap(nobody{}, WithLockerInstance(owner.instance)); err != nil {
					t.Fatal(err)
				}
				w := &waiter{lease: new(lease), view: view{hooked: true, doing: lock.WaitHolder, blocker: told}}
				w.owner, w.shard, w.asOf = owner, &board.shards[0], l.now
				c.waiters = append(c.waiters, w)
			}
			w := c.waiters[2]
			w.shard.contend(c.id, nil, false, l.now)
			if got := l.blockerOf(c, w); got == nil || got.Holder != test.want {
				t.Errorf("it waits for %+v, want %s", got, test.want)
			}
		})
	}
}

// TestTwoRefusalsInTwoNames has a waiter refused by a node that had not heard that an earlier holder has let go, and by one that
// names the present holder, whose lease is on the same page.
func TestTwoRefusalsInTwoNames(t *testing.T) {
	for named, want := range map[int]string{1: "orders/1", 2: "stock/3"} {
		board, err := New()
		if err != nil {
			t.Fatal(err)
		}
		now := time.Now()
		owner, other := &locker{board: board, instance: "orders/1"}, &locker{board: board, instance: "orders/1"}
		w := &waiter{lease: new(lease), view: view{hooked: true, doing: lock.WaitHolder, asOf: now,
			blocker: &lock.HeldError{Holder: lock.Holder{Instance: "stock/3"}, Nodes: 3, Refused: 2, Named: named}}}
		w.owner, w.shard = other, &board.shards[0]
		held := &lease{call: call{owner: owner}, heldAt: now.Add(-time.Second)}
		c := &contention{id: id{resource: "job"}, waiters: []*waiter{w}, holders: []holder{{held, Held{Holder: owner.instance}}}}
		l := &look{board: board, now: now, wanted: map[id]*contention{c.id: c}}
		if got := l.blockerOf(c, w); got == nil || got.Holder != want {
			t.Errorf("%d of 3 nodes named another: it waits for %+v, want %s", named, got, want)
		}
	}
}

type nobody struct{}

func (nobody) Acquire(context.Context, string, ...lock.AcquireOption) (lock.Lease, error) {
	return nil, lock.ErrHeld
}
