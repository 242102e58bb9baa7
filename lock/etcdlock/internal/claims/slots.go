package etcdlock

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/lockscope/lockscope/lock/driver"
)

// The number of slots of a semaphore is a key of its own, with a lease that lasts for the time it is kept. The
// transaction that claims a slot compares it.

var (
	_ driver.BlockingSlotKeeper = (*node)(nil)
	_ driver.Sharer             = (*node)(nil)
)

// maxNumbers bounds the numbers of slots that a process remembers to have renewed.
const maxNumbers = 1000

// Shares implements driver.Sharer.
func (n *node) Shares() error { return nil }

// slotsKey is the key of a semaphore's number of slots. No resource has a directory that contains it.
func (n *node) slotsKey(semaphore string) string {
	return MutexPrefix(n.prefix+"/slots/", strings.TrimPrefix(semaphore, n.prefix)) + "#k"
}

// slotsIn is the number of slots that was read: 0 if there is none, -1 if it is no number.
func slotsIn(kvs []*mvccpb.KeyValue) int {
	if len(kvs) == 0 {
		return 0
	}
	slots, err := strconv.Atoi(string(kvs[0].Value))
	if err != nil || slots < 1 {
		return -1
	}
	return slots
}

// slots is how many slots the claim's semaphore has; 0 if it is no slot.
func (c *claim) slots() int {
	if c.semaphore == nil {
		return 0
	}
	return c.semaphore.Slots
}

// agrees reports whether the claim may be to a slot of a semaphore with that many.
func (c *claim) agrees(slots int) bool { return c.semaphore == nil || slots == c.semaphore.Slots }

// otherSlots ends a claim whose semaphore has another number of slots than the claim says. It returns errGone if none
// was known: then the claim's is known now, and the caller has to try again.
func (n *node) otherSlots(ctx context.Context, req driver.AcquireRequest, c *claim, known int) (driver.AcquireReply,
	error) {
	n.stopWaiting(req.Key, c)
	n.forget(req.Token)
	if c.made == 0 {
		n.idle.put(c.lease())
	} else if _, _, err := n.remove(ctx, c, false); err != nil {
		n.retire(c)
	}
	switch {
	case known < 0:
		return driver.AcquireReply{}, n.errSlots(c.semaphore.Key)
	case known > 0:
		return driver.AcquireReply{Slots: known}, nil
	}
	if _, err := n.takeSlots(ctx, c.semaphore); err != nil {
		return driver.AcquireReply{}, err
	}
	return driver.AcquireReply{}, errGone
}

func (n *node) errSlots(semaphore string) error {
	return fmt.Errorf("%w: key %q has no number of slots: find out who set it", driver.ErrMisconfigured,
		n.slotsKey(semaphore))
}

// takeSlots makes the number known unless one is. It returns the number that is known then.
func (n *node) takeSlots(ctx context.Context, s *driver.Semaphore) (known int, err error) {
	known, err = n.setSlots(ctx, s.Key, 0, s.Slots, s.Keep)
	if err == nil && known == 0 {
		known = s.Slots
	}
	return known, err
}

// keepSlots takes the number if none is known, and keeps it from being forgotten.
func (n *node) keepSlots(ctx context.Context, s *driver.Semaphore, known int) error {
	if known == 0 {
		_, err := n.takeSlots(ctx, s)
		return err
	}
	n.renewSlots(s)
	return nil
}

// renewSlots renews the lease of the number in the background if this process has not done so for a quarter of the
// time for which it is kept.
func (n *node) renewSlots(s *driver.Semaphore) {
	key, now := n.slotsKey(s.Key), n.clock()
	n.mu.Lock()
	last, renewed := n.numbers[key]
	due := !renewed || now-last >= s.Keep/4
	if due {
		if len(n.numbers) >= maxNumbers {
			clear(n.numbers)
		}
		n.numbers[key] = now
	}
	n.mu.Unlock()
	if !due {
		return
	}
	n.run(func() {
		ctx, cancel := context.WithTimeout(n.life, n.timeout)
		defer cancel()
		resp, err := n.client.Get(ctx, key)
		if err == nil && len(resp.Kvs) > 0 {
			_, err = n.keepAlive(ctx, clientv3.LeaseID(resp.Kvs[0].Lease))
		}
		if err != nil {
			n.mu.Lock()
			defer n.mu.Unlock()
			delete(n.numbers, key) // the next call tries again
		}
	})
}

// Resize implements driver.BlockingSlotKeeper.
func (n *node) Resize(ctx context.Context, req driver.ResizeRequest) (driver.ResizeReply, error) {
	if err := n.reachable(ctx); err != nil {
		return 0, err
	}
	known, err := n.setSlots(ctx, req.Key, req.From, req.To, req.Keep)
	return driver.ResizeReply(known), n.fail(err)
}

// maxChanges is how many changes by others setSlots may meet.
const maxChanges = 5

// setSlots sets the number to to, if from, to or none is known, unless to is 0. It returns what was known before.
func (n *node) setSlots(ctx context.Context, semaphore string, from, to int, keep time.Duration) (known int,
	err error) {
	key := n.slotsKey(semaphore)
	for range maxChanges {
		resp, err := repeat(ctx, func(ctx context.Context) (*clientv3.GetResponse, error) {
			return n.client.Get(ctx, key)
		})
		if err != nil {
			return 0, err
		}
		known = slotsIn(resp.Kvs)
		switch {
		case known < 0:
			return 0, n.errSlots(semaphore)
		case to == 0 || known != 0 && known != from && known != to:
			return known, nil
		}
		seen := int64(0)
		if known != 0 {
			seen = resp.Kvs[0].ModRevision
		}
		if done, err := n.putSlots(ctx, key, to, seen, keep); err != nil || done {
			return known, err
		}
	}
	return 0, fmt.Errorf("%w: key %q keeps changing: find out who writes it", driver.ErrUnreachable, key)
}

// putSlots writes the number under a new lease, unless somebody else has written since revision seen.
func (n *node) putSlots(ctx context.Context, key string, slots int, seen int64, keep time.Duration) (done bool,
	err error) {
	l, err := n.grant(ctx, int64(math.Ceil(keep.Seconds())))
	if err != nil {
		return false, err
	}
	resp, again, err := n.commit(ctx, []clientv3.Cmp{clientv3.Compare(clientv3.ModRevision(key), "=", seen)},
		[]clientv3.Op{clientv3.OpPut(key, strconv.Itoa(slots), clientv3.WithLease(l.id))}, nil)
	if err != nil {
		return false, err // the lease ends by itself, and the number with it if it was written
	}
	if !resp.Succeeded && !again {
		_, _ = n.client.Revoke(ctx, l.id)
	}
	return resp.Succeeded, nil
}
