package node

import (
	"context"
	"errors"

	"github.com/lockscope/lockscope/lock/contrib/zklock/internal/claims"
	"github.com/lockscope/lockscope/lock/contrib/zklock/internal/store"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/driver/claimlist"
)

// Acquire implements driver.BlockingNode.
func (n *Node) Acquire(ctx context.Context, req driver.AcquireRequest) (driver.AcquireReply, error) {
	c, queued := n.begin(req)
	enter := func() (driver.AcquireReply, error) {
		e, err := n.claims.Enter(c, queued)
		n.settle(req, c, e)
		return e.Reply(), err
	}
	late := func() { n.claims.RemoveBuried(c) }
	reply, err := store.Within(ctx, n.store, n.store.Session.AwaitReachable, enter, late)
	if errors.Is(err, driver.ErrNotSent) {
		n.mine.Forget(req.Token)
	}
	return reply, err
}

// begin returns the claim of an attempt: the one that this process waits with if the attempt is a waiter's,
// else a new one.
func (n *Node) begin(req driver.AcquireRequest) (c *claims.Claim, queued bool) {
	w, expired := claimlist.WantOf(req), func() { n.mine.Forget(req.Token) }
	w.Waits = w.Waits || req.Waiter.Ticket != 0
	c = n.mine.Queued(req.Key)
	if queued = c != nil && w.Waits && c.Continue(w, expired); !queued {
		c = n.claims.NewClaim(w, expired)
	}
	n.mine.Remember(req.Token, c)
	return c, queued
}

// settle records what has become of a claim. One that was neither granted nor refused keeps its token, and its release
// gives it back. A call that is late may settle what a release has given up meanwhile: so a claim is queued first, and then
// looked at.
func (n *Node) settle(req driver.AcquireRequest, c *claims.Claim, e claimlist.Entry) {
	if e.Waits {
		n.mine.Forget(req.Token)
		if former := n.mine.Queue(req.Key, c); former != nil && former != c {
			n.claims.Retire(former)
		}
	}
	if c.Over() {
		n.mine.Forget(req.Token)
	}
	if c.Over() || e.Granted {
		n.mine.Unqueue(req.Key, c)
	}
}

// Extend implements driver.BlockingNode.
func (n *Node) Extend(ctx context.Context, req driver.ExtendRequest) (driver.ExtendReply, error) {
	c := n.mine.Of(req.Token)
	if c == nil {
		return driver.ExtendGone, nil
	}
	return claimlist.Extended(n.claims.Renew(ctx, c, req.TTL, req.Holder), false)
}

// Release implements driver.BlockingNode.
func (n *Node) Release(ctx context.Context, req driver.ReleaseRequest) (driver.ReleaseReply, error) {
	c := n.mine.Of(req.Token)
	if c == nil {
		return driver.ReleaseReply{}, nil
	}
	found, taken, err := n.claims.Release(ctx, c)
	n.mine.Unqueue(req.Key, c)
	if err != nil {
		return driver.ReleaseReply{}, err
	}
	n.mine.Forget(req.Token)
	return claimlist.Released(found, taken), nil
}

// Leave implements driver.BlockingNode.
func (n *Node) Leave(_ context.Context, req driver.LeaveRequest) error {
	if c := n.mine.Queued(req.Key); c != nil {
		n.claims.Retire(c)
		n.mine.Unqueue(req.Key, c)
	}
	return nil
}

// Peek implements driver.BlockingNode. It creates no claim and sets no watch. The counter is 0 for zk.Lock and
// Curator. The remaining time is a guess from the clocks of the ensemble and of this process.
func (n *Node) Peek(ctx context.Context, req driver.PeekRequest) (driver.PeekReply, error) {
	return store.Within(ctx, n.store, n.store.Session.AwaitReachable, func() (driver.PeekReply, error) {
		h, err := n.claims.Holders().Holder(ctx, req.Key)
		return h.Peek(), store.Classify(err)
	}, nil)
}

// Resize implements driver.BlockingNode.
func (n *Node) Resize(ctx context.Context, req driver.ResizeRequest) (driver.ResizeReply, error) {
	return store.Within(ctx, n.store, n.store.Session.AwaitReachable, func() (driver.ResizeReply, error) {
		known, err := n.claims.Resize(req.Key, req.From, req.To)
		return driver.ResizeReply(known), err
	}, nil)
}

// Revoke implements driver.BlockingNode. A grant is called by the transaction that created its claim. Claims of zk.Lock
// and Curator get no mark: they would not look for it.
func (n *Node) Revoke(ctx context.Context, req driver.RevokeRequest) (driver.RevokeReply, error) {
	return store.Within(ctx, n.store, n.store.Session.AwaitReachable, func() (driver.RevokeReply, error) {
		reply, err := claimlist.Revoke(ctx, n.claims.Holders(), req)
		return reply, store.CutOff(err)
	}, nil)
}
