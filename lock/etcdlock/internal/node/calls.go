package node

import (
	"context"
	"errors"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/driver/claimlist"
	"github.com/lockscope/lockscope/lock/etcdlock/internal/claims"
)

// Acquire implements driver.BlockingNode.
func (n *Node) Acquire(ctx context.Context, req driver.AcquireRequest) (driver.AcquireReply, error) {
	if c := n.mine.Of(req.Token); c != nil && c.Held() {
		return c.Granted().Reply(), nil
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
		if !errors.Is(err, claimlist.ErrGone) {
			return e.Reply(), err
		}
	}
	for range claims.MaxTerms {
		c, err := n.claims.Prepare(ctx, claimlist.WantOf(req))
		if err != nil {
			return driver.AcquireReply{}, err
		}
		n.mine.Remember(req.Token, c) // a call without an answer may have made it
		e, err := n.claims.Enter(ctx, c)
		n.settle(req, c, e)
		if !errors.Is(err, claimlist.ErrGone) {
			return e.Reply(), err
		}
	}
	return driver.AcquireReply{}, claims.ErrNoTerm
}

// settle records what has become of a claim. One that was neither granted nor refused keeps its token, and its release
// ends it.
func (n *Node) settle(req driver.AcquireRequest, c *claims.Claim, e claimlist.Entry) {
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

// Extend implements driver.BlockingNode.
func (n *Node) Extend(ctx context.Context, req driver.ExtendRequest) (driver.ExtendReply, error) {
	c := n.mine.Of(req.Token)
	if c == nil || c.Ticket() == 0 {
		return driver.ExtendGone, nil
	}
	if req.Final {
		taken, err := n.claims.Keep(ctx, c, req.TTL, req.Holder)
		if err == nil {
			n.mine.Forget(req.Token)
		}
		return claimlist.Extended(n.store.Fail(err), taken)
	}
	o, err := n.claims.Renew(ctx, c, req.TTL)
	if err == nil && req.Rename {
		n.claims.Rename(ctx, c, req.Holder)
	}
	return claimlist.Extended(n.store.Fail(err), o.Taken())
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
	return claimlist.Released(found && !expired, taken), nil
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

// Peek implements driver.BlockingNode. Its reads go through a majority of the members. The counter is 0 for a plain
// Mutex, and if the base of the holder's token was compacted.
func (n *Node) Peek(ctx context.Context, req driver.PeekRequest) (driver.PeekReply, error) {
	if err := n.store.Reachable(ctx); err != nil {
		return driver.PeekReply{}, err
	}
	h, err := n.claims.Holder(ctx, req.Key)
	return h.Peek(), n.store.Fail(err)
}

// Resize implements driver.BlockingNode.
func (n *Node) Resize(ctx context.Context, req driver.ResizeRequest) (driver.ResizeReply, error) {
	if err := n.store.Reachable(ctx); err != nil {
		return 0, err
	}
	known, err := n.claims.Resize(ctx, req.Key, req.From, req.To, req.Keep)
	return driver.ResizeReply(known), n.store.Fail(err)
}

// Revoke implements driver.BlockingNode. A grant is called by the revision that created the claim.
func (n *Node) Revoke(ctx context.Context, req driver.RevokeRequest) (driver.RevokeReply, error) {
	if err := n.store.Reachable(ctx); err != nil {
		return driver.RevokeReply{}, err
	}
	reply, err := claimlist.Revoke(ctx, n.claims, req)
	return reply, n.store.Fail(err)
}
