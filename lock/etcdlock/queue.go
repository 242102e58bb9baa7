package etcdlock

import (
	"context"
	"errors"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/lockscope/lockscope/lock/driver"
)

// renameAfter is how long a lock that was waited for is held before its key says since
// when: until then it says when its holder came.
const renameAfter = 5 * time.Millisecond

// waiting is the claim that waits for whoever asks, if it asks from its place.
func (n *node) waiting(req driver.AcquireRequest) *claim {
	n.mu.Lock()
	defer n.mu.Unlock()
	c := n.queued[req.Key]
	if c == nil || req.Waiter.Ticket != c.made {
		return nil
	}
	return c
}

// queue has a claim wait, and returns how many are before it.
func (n *node) queue(req driver.AcquireRequest, c *claim, resp *clientv3.TxnResponse) (ahead int) {
	before := resp.Responses[2].GetResponseRange().Kvs
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

// keep prolongs the lease of a claim for as long as that waits. What came of it does not
// matter here: whoever is first looks, and confirms it.
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

// stopWaiting ends what keep and the watch do for a claim.
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

// promote makes a claim that has waited the lock, if it is the first by now. It fails with
// errGone if it lost its place.
func (n *node) promote(ctx context.Context, req driver.AcquireRequest, c *claim) (driver.AcquireReply, error) {
	resp, sent, err := n.confirm(ctx, c, false)
	switch {
	case errors.Is(err, errGone):
		n.stopWaiting(req.Key, c)
		return driver.AcquireReply{}, errGone
	case err != nil:
		return driver.AcquireReply{}, n.notSent(err) // it goes on waiting
	case !c.ours(resp.Kvs[0]):
		reply := n.refuse(ctx, resp.Kvs[0], true)
		reply.Ticket, reply.Ahead = c.made, len(resp.Kvs)-1
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

// Leave implements driver.BlockingNode. A place whose key cannot be deleted now is given
// up in the background: until then others wait behind it.
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

// retire deletes a claim that nobody has a use for, in the background, or leaves it to the
// end of its lease.
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

// retryPause is between tries of what nobody waits for.
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

// Subscribe implements driver.BlockingNode: nothing has to be asked for.
func (n *node) Subscribe(_ context.Context, _ string, wake func(key string)) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.wake = wake
	return nil
}
