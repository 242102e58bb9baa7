package node

import (
	"context"
	"slices"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/etcdlock/internal/claims"
	"github.com/lockscope/lockscope/lock/internal/claimlist"
)

// Peek implements driver.BlockingPeeker. Its reads go through a majority of the members. The counter is 0 for a plain
// Mutex, and if the base of the holder's token was compacted.
func (n *Node) Peek(ctx context.Context, req driver.PeekRequest) (driver.PeekReply, error) {
	if err := n.store.Reachable(ctx); err != nil {
		return driver.PeekReply{}, err
	}
	h, err := n.claims.Holder(ctx, req.Key)
	if err != nil || h == nil {
		return driver.PeekReply{}, n.store.Fail(err)
	}
	return driver.PeekReply{Held: true, Holder: h.Record, TTL: h.Left, Counter: h.Fence}, nil
}

// Resize implements driver.BlockingSlotKeeper.
func (n *Node) Resize(ctx context.Context, req driver.ResizeRequest) (driver.ResizeReply, error) {
	if err := n.store.Reachable(ctx); err != nil {
		return 0, err
	}
	known, err := n.claims.Resize(ctx, req.Key, req.From, req.To, req.Keep)
	return driver.ResizeReply(known), n.store.Fail(err)
}

// Revoke implements driver.BlockingRevoker. A grant is called by the revision that created the claim. Only the claim
// that holds the lock gets a mark.
func (n *Node) Revoke(ctx context.Context, req driver.RevokeRequest) (driver.RevokeReply, error) {
	if err := n.store.Reachable(ctx); err != nil {
		return driver.RevokeReply{}, err
	}
	reply, err := n.revoke(ctx, req)
	if err != nil {
		return driver.RevokeReply{}, n.store.Fail(err)
	}
	return reply, nil
}

func (n *Node) revoke(ctx context.Context, req driver.RevokeRequest) (driver.RevokeReply, error) {
	h, err := n.claims.Holder(ctx, req.Key)
	switch {
	case err != nil:
		return driver.RevokeReply{}, err
	case h != nil && h.Reads || len(req.Readers) > 0:
		return n.revokeReaders(ctx, req)
	case h == nil:
		return driver.RevokeReply{}, nil
	}
	reply := driver.RevokeReply{Held: true, Grant: h.Grant, Counter: h.Fence, TTL: h.Longest, Holder: h.Record}
	if req.Grant == "" || reply.Grant != req.Grant {
		return reply, nil
	}
	record, marked, err := n.claims.Mark(ctx, h, req.Record, req.Keep)
	if err != nil || !marked { // released since
		return driver.RevokeReply{}, err
	}
	reply.Record = record
	return reply, nil
}

// revokeReaders lists the readers that hold the lock, and marks those that the request names.
func (n *Node) revokeReaders(ctx context.Context, req driver.RevokeRequest) (driver.RevokeReply, error) {
	readers, err := n.claims.Readers(ctx, req.Key)
	if err != nil {
		return driver.RevokeReply{}, err
	}
	found := make([]driver.RevokeReader, len(readers))
	err = claimlist.Parallel(len(readers), func(i int) (err error) {
		found[i], err = n.revokeReader(ctx, readers[i], req)
		return err
	})
	if err != nil {
		return driver.RevokeReply{}, err
	}
	return claimlist.RevokedReaders(found, req), nil
}

// revokeReader describes a reader, and marks it if the request names it. Held is false if it has ended since.
func (n *Node) revokeReader(
	ctx context.Context, h *claims.Holder, req driver.RevokeRequest,
) (driver.RevokeReader, error) {
	r := driver.RevokeReader{Grant: h.Grant, Held: true, Counter: h.Fence, TTL: h.Longest, Holder: h.Record}
	if !slices.Contains(req.Readers, r.Grant) {
		return r, nil
	}
	var err error
	r.Record, r.Held, err = n.claims.Mark(ctx, h, req.Record, req.Keep)
	return r, err
}
