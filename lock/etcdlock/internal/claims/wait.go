package etcdlock

import (
	"context"
	"errors"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/lockscope/lockscope/lock/driver"
)

// renameAfter is how long a waiter must have held the lock before its key gets the time since when. Until
// then the key has the time when the waiter came.
const renameAfter = 5 * time.Millisecond

// waiting returns the claim that waits in the queue, if the request is that waiter's.
func (n *node) waiting(req driver.AcquireRequest) *claim {
	n.mu.Lock()
	defer n.mu.Unlock()
	c := n.queued[req.Key]
	if c == nil || req.Waiter.Ticket != c.made {
		return nil
	}
	return c
}

// queue lets a claim wait, and returns the number of claims before it.
func (n *node) queue(req driver.AcquireRequest, c *claim, before []*mvccpb.KeyValue) (ahead int) {
	n.mu.Lock()
	former := n.queued[req.Key]
	n.queued[req.Key] = c
	n.mu.Unlock()
	if former != nil {
		n.retire(former)
	}
	c.keep(n)
	n.follow(req.Key, c, before)
	return len(before)
}

// keep renews the lease of a claim while it waits. It ignores the result: the first claim looks and confirms
// its lease.
func (c *claim) keep(n *node) {
	c.mu.Lock()
	defer c.mu.Unlock()
	every := c.leases[0].ttl / 4
	c.keeper = time.AfterFunc(every, func() {
		n.run(func() {
			ctx, cancel := context.WithTimeout(n.life, n.timeout)
			_, _ = n.keepAlive(ctx, c.lease().id)
			cancel()
			c.mu.Lock()
			defer c.mu.Unlock()
			if !c.left {
				c.keeper.Reset(every)
			}
		})
	})
}

// stop ends keep.
func (c *claim) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left = true
	if c.keeper != nil {
		c.keeper.Stop()
	}
}

// stopWaiting ends keep and the watch of a claim.
func (n *node) stopWaiting(key string, c *claim) {
	c.stop()
	n.mu.Lock()
	if n.queued[key] == c {
		delete(n.queued, key)
	}
	w := n.watches[c.directory]
	n.mu.Unlock()
	if w != nil {
		w.unfollow(c)
	}
}

// promote makes a waiting claim the holder's if it is the first now. It fails with errGone if the claim lost
// its place.
func (n *node) promote(ctx context.Context, req driver.AcquireRequest, c *claim) (driver.AcquireReply, error) {
	v, sent, err := n.confirm(ctx, c, false)
	switch {
	case errors.Is(err, errGone):
		n.stopWaiting(req.Key, c)
		return driver.AcquireReply{}, errGone
	case err != nil:
		return driver.AcquireReply{}, n.notSent(err) // it goes on waiting
	case c.semaphore != nil && v.slots == 0:
		if v.slots, err = n.takeSlots(ctx, c.semaphore); err != nil {
			return driver.AcquireReply{}, n.notSent(err)
		}
	}
	switch {
	case !c.agrees(v.slots):
		return n.otherSlots(ctx, req, c, v.slots)
	case !v.first(c):
		reply := n.refuse(ctx, v.kvs[0], true)
		reply.Ticket, reply.Ahead, reply.Slots = c.made, len(v.kvs)-1, c.slots()
		return reply, nil
	}
	n.stopWaiting(req.Key, c)
	n.remember(req.Token, c)
	c.until = sent + c.ttl
	c.renaming = time.AfterFunc(renameAfter, func() {
		n.run(func() {
			ctx, cancel := context.WithTimeout(n.life, n.timeout)
			defer cancel()
			_ = n.rename(ctx, c, req.Holder)
		})
	})
	return granted(c), nil
}

// Leave implements driver.BlockingNode. If the key cannot be deleted now, it is deleted in the background,
// and others wait behind it until then.
func (n *node) Leave(ctx context.Context, req driver.LeaveRequest) error {
	n.mu.Lock()
	c := n.queued[req.Key]
	n.mu.Unlock()
	if c == nil {
		return nil
	}
	n.stopWaiting(req.Key, c)
	_, _, err := n.remove(ctx, c, false)
	if err != nil {
		n.retire(c)
	}
	return n.fail(err)
}

// retire deletes an unused claim in the background, or lets it end with its lease.
func (n *node) retire(c *claim) {
	c.stop()
	n.run(func() {
		for over := n.clock() + c.lease().ttl; n.clock() < over; {
			ctx, cancel := context.WithTimeout(n.life, n.timeout)
			err := n.revoke(ctx, c)
			cancel()
			if err == nil || !n.pause(retryPause) {
				return
			}
		}
	})
}

// retryPause is the pause between tries in the background.
const retryPause = 100 * time.Millisecond

// pause reports false if the node was closed meanwhile.
func (n *node) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-n.life.Done():
		return false
	}
}

// Subscribe implements driver.BlockingNode. It needs no request.
func (n *node) Subscribe(_ context.Context, _ string, wake func(key string)) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.wake = wake
	return nil
}
