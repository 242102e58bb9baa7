package node

import (
	"cmp"
	"context"
	"errors"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/etcdlock/internal/claims"
)

// Acquire implements driver.BlockingNode.
func (n *Node) Acquire(ctx context.Context, req driver.AcquireRequest) (driver.AcquireReply, error) {
	if c := n.mine.Of(req.Token); c != nil && c.Held() {
		return granted(c), nil
	}
	if err := n.store.Reachable(ctx); err != nil {
		return driver.AcquireReply{}, err
	}
	reply, err := n.contend(ctx, req)
	if n.store.History.ReportRewind() {
		reply.Restart = &driver.Restart{Witnessed: true, Left: n.memory}
	}
	return reply, n.store.Fail(err)
}

// contend goes on with the claim that waits for the lock, if the request is that waiter's, or makes one. It replaces a
// claim that has ended, or has an unusable lease or base.
func (n *Node) contend(ctx context.Context, req driver.AcquireRequest) (driver.AcquireReply, error) {
	if c := n.mine.Queued(req.Key); c != nil && c.Ticket() == req.Waiter.Ticket {
		e, err := n.claims.Promote(ctx, c, req.Holder)
		n.settle(req, c, e)
		if !errors.Is(err, claims.ErrGone) {
			return reply(c, e, err), err
		}
	}
	for range claims.MaxTerms {
		c, err := n.claims.Prepare(ctx, claims.Want{
			Key: req.Key, Record: req.Holder, TTL: req.TTL, Floor: req.Floor, Reads: req.Mode == driver.Read,
			Waits: req.Waiter.Enqueue, Semaphore: req.Semaphore,
		})
		if err != nil {
			return driver.AcquireReply{}, err
		}
		n.mine.Remember(req.Token, c) // a call without an answer may have made it
		e, err := n.claims.Enter(ctx, c)
		n.settle(req, c, e)
		if !errors.Is(err, claims.ErrGone) {
			return reply(c, e, err), err
		}
	}
	return driver.AcquireReply{}, claims.ErrNoTerm
}

// settle records what has become of a claim. One that was neither granted nor refused keeps its token, and its release
// ends it.
func (n *Node) settle(req driver.AcquireRequest, c *claims.Claim, e claims.Entry) {
	switch {
	case c.Held():
		n.mine.Unqueue(req.Key, c)
		n.mine.Remember(req.Token, c)
	case c.Over():
		n.mine.Unqueue(req.Key, c)
		n.mine.Forget(req.Token)
	case e.Waits:
		n.mine.Forget(req.Token)
		if former := n.mine.Queue(req.Key, c); former != nil && former != c {
			n.claims.Retire(former)
		}
	}
}

func reply(c *claims.Claim, e claims.Entry, err error) driver.AcquireReply {
	switch {
	case err != nil:
		return driver.AcquireReply{}
	case c.Held():
		return granted(c)
	}
	reply := driver.AcquireReply{
		Holder: e.Record, TTL: e.Left, Reserved: e.Reserved, Slots: cmp.Or(e.Slots, c.Slots()),
	}
	if e.Waits {
		reply.Ticket, reply.Ahead = c.Ticket(), e.Ahead
	}
	return reply
}

func granted(c *claims.Claim) driver.AcquireReply {
	return driver.AcquireReply{Granted: true, Counter: c.Fence(), Run: 1, Slots: c.Slots()}
}

// Extend implements driver.BlockingNode.
func (n *Node) Extend(ctx context.Context, req driver.ExtendRequest) (driver.ExtendReply, error) {
	c := n.mine.Of(req.Token)
	if c == nil || c.Ticket() == 0 {
		return driver.ExtendGone, nil
	}
	o, err := n.claims.Renew(ctx, c, req.TTL)
	switch {
	case errors.Is(err, claims.ErrGone) && o.Taken():
		return driver.ExtendTaken, nil
	case errors.Is(err, claims.ErrGone):
		return driver.ExtendGone, nil
	case errors.Is(err, claims.ErrNoSlot):
		return driver.ExtendNoSlot, nil
	case err != nil:
		return 0, n.store.Fail(err)
	}
	if req.Rename {
		n.claims.Rename(ctx, c, req.Holder)
	}
	return driver.ExtendDone, nil
}

// Release implements driver.BlockingNode. The next waiter sees by its watch that it is first.
func (n *Node) Release(ctx context.Context, req driver.ReleaseRequest) (driver.ReleaseReply, error) {
	c := n.mine.Of(req.Token)
	if c == nil {
		return driver.ReleaseReply{Found: driver.FoundNothing}, nil
	}
	expired := c.Expired(n.store.Now())
	found, taken, err := n.claims.Remove(ctx, c, req.Tombstone > 0)
	if err != nil {
		return driver.ReleaseReply{}, n.store.Fail(err)
	}
	n.mine.Forget(req.Token)
	switch {
	case found && !expired:
		return driver.ReleaseReply{Found: driver.FoundOwn}, nil
	case taken:
		return driver.ReleaseReply{Found: driver.FoundOther}, nil
	}
	return driver.ReleaseReply{Found: driver.FoundNothing}, nil
}

// Leave implements driver.BlockingNode.
func (n *Node) Leave(ctx context.Context, req driver.LeaveRequest) error {
	c := n.mine.Queued(req.Key)
	if c == nil {
		return nil
	}
	n.mine.Unqueue(req.Key, c)
	return n.store.Fail(n.claims.Leave(ctx, c))
}
