package pglock

import (
	"context"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

var _ driver.BlockingRevoker = (*node)(nil)

// Revoke implements driver.BlockingRevoker. The name of a grant is that of function grant_of. A grant that does not
// hold the lock any more gets no mark: there is one server, and it has no lease left to end.
func (n *node) Revoke(ctx context.Context, req driver.RevokeRequest) (driver.RevokeReply, error) {
	var code int
	var fence, ttl int64
	var reply driver.RevokeReply
	err := n.ask(ctx, n.calls.revoke,
		[]any{req.Key, req.Grant, req.Record, millis(req.Keep), millis(n.memory), n.enforced},
		&code, &reply.Grant, &fence, &ttl, &reply.Holder, &reply.Record)
	if err != nil {
		return driver.RevokeReply{}, err
	}
	reply.Counter, reply.TTL = uint64(fence), time.Duration(ttl)*time.Millisecond
	switch code {
	case codeGranted: // free
		return driver.RevokeReply{}, nil
	case codeHeld:
		reply.Held = true
		return reply, nil
	case codeReaders:
		reply.Held, reply.Shared = true, true
		return reply, nil
	case codeForgot:
		return driver.RevokeReply{}, fmt.Errorf("%w: it was promoted, or restored from a backup: ask again after %v",
			driver.ErrQuarantined, n.memory)
	}
	return driver.RevokeReply{}, fmt.Errorf("%w: revoke_lease returned code %d", driver.ErrBadReply, code)
}

// revoked is the refusal to extend a lease that is marked.
func (n *node) revoked(ctx context.Context, key, token string) error {
	var record string
	if err := n.ask(ctx, n.calls.markOf, []any{key, token}, &record); err != nil {
		return err
	}
	return &driver.RevokedError{Record: record}
}
