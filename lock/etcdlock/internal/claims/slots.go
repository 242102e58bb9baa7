package claims

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/driver/claimlist"
	"github.com/lockscope/lockscope/lock/etcdlock/internal/store"
)

// maxNumbers bounds the numbers of slots that a process remembers to have renewed.
const maxNumbers = 1000

// numbers are the numbers of slots of semaphores. Each is a key of its own, with a lease that lasts for the time it is
// kept. The transaction that claims a slot compares it.
type numbers struct {
	store  *store.Store
	layout layout

	mu      sync.Mutex
	renewed map[string]time.Duration // when this process renewed numbers, by key
}

// slotsIn is the number of slots that was read: 0 if there is none, -1 if it is no number.
func slotsIn(kvs []*mvccpb.KeyValue) int {
	if len(kvs) == 0 {
		return 0
	}
	if slots, ok := claimlist.ParseSlots(kvs[0].Value); ok {
		return slots
	}
	return -1
}

func (n *numbers) misconfigured(semaphore string) error {
	return fmt.Errorf("%w: key %q has no number of slots: find out who set it", driver.ErrMisconfigured,
		n.layout.slots(semaphore))
}

// take makes the number known unless one is. It returns the number that is known then.
func (n *numbers) take(ctx context.Context, s *driver.Semaphore) (known int, err error) {
	known, err = n.set(ctx, s.Key, 0, s.Slots, s.Keep)
	if err == nil && known == 0 {
		known = s.Slots
	}
	return known, err
}

// keep takes the number if none is known, and keeps it from being forgotten.
func (n *numbers) keep(ctx context.Context, s *driver.Semaphore, known int) error {
	if known == 0 {
		_, err := n.take(ctx, s)
		return err
	}
	n.renew(s)
	return nil
}

// renew renews the lease of the number in the background if this process has not done so for a quarter of the
// time for which it is kept.
func (n *numbers) renew(s *driver.Semaphore) {
	key, now := n.layout.slots(s.Key), n.store.Now()
	n.mu.Lock()
	last, known := n.renewed[key]
	due := !known || now-last >= s.Keep/4
	if due {
		if len(n.renewed) >= maxNumbers {
			clear(n.renewed)
		}
		n.renewed[key] = now
	}
	n.mu.Unlock()
	if !due {
		return
	}
	n.store.Go(func(ctx context.Context) {
		kvs, err := n.store.Get(ctx, key)
		if err == nil && len(kvs) > 0 {
			_, err = n.store.KeepAlive(ctx, clientv3.LeaseID(kvs[0].Lease))
		}
		if err != nil {
			n.mu.Lock()
			defer n.mu.Unlock()
			delete(n.renewed, key) // the next call tries again
		}
	})
}

// maxChanges is how many changes by others set may meet.
const maxChanges = 5

// set sets the number to to, if from, to or none is known, unless to is 0. It returns what was known before.
func (n *numbers) set(ctx context.Context, semaphore string, from, to int, keep time.Duration) (known int,
	err error) {
	key := n.layout.slots(semaphore)
	for range maxChanges {
		kvs, err := n.store.Get(ctx, key)
		if err != nil {
			return 0, err
		}
		switch known = slotsIn(kvs); {
		case known < 0:
			return 0, n.misconfigured(semaphore)
		case !claimlist.Resizes(known, from, to):
			return known, nil
		}
		seen := int64(0)
		if known != 0 {
			seen = kvs[0].ModRevision
		}
		if done, err := n.put(ctx, key, to, seen, keep); err != nil || done {
			return known, err
		}
	}
	return 0, fmt.Errorf("%w: key %q keeps changing: find out who writes it", driver.ErrUnreachable, key)
}

// put writes the number under a new lease, unless somebody else has written since revision seen.
func (n *numbers) put(ctx context.Context, key string, slots int, seen int64, keep time.Duration) (done bool,
	err error) {
	l, err := n.store.Grant(ctx, int64(math.Ceil(keep.Seconds())))
	if err != nil {
		return false, err
	}
	answer, err := n.store.Commit(ctx, []clientv3.Cmp{clientv3.Compare(clientv3.ModRevision(key), "=", seen)},
		[]clientv3.Op{clientv3.OpPut(key, strconv.Itoa(slots), clientv3.WithLease(l.ID))}, nil)
	if err != nil {
		return false, err // the lease ends by itself, and the number with it if it was written
	}
	if !answer.Succeeded && !answer.Again {
		_ = n.store.Revoke(ctx, l)
	}
	return answer.Succeeded, nil
}
