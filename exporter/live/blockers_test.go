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
		return &lock.HeldError{Holder: lock.Holder{Instance: by}, Nodes: 3, Refused: nodes, Remaining: time.Minute}
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
			c := &contention{resource: "job"}
			l := &look{board: board, now: time.Now(), wanted: map[string]*contention{"job": c}}
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
			w.shard.contend("job", nil, l.now)
			if got := l.blockerOf(c, w); got == nil || got.Holder != test.want {
				t.Errorf("it waits for %+v, want %s", got, test.want)
			}
		})
	}
}

type nobody struct{}

func (nobody) Acquire(context.Context, string, ...lock.AcquireOption) (lock.Lease, error) {
	return nil, lock.ErrHeld
}
