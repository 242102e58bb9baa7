package locktest

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockscope/lockscope/lock/driver"
)

// Revoke implements driver.BlockingNode. A server that may not vote is neither asked nor marked.
func (n *FakeNode) Revoke(ctx context.Context, req driver.RevokeRequest) (driver.RevokeReply, error) {
	if n.guard != nil {
		if err := n.guard.AdmitReader(ctx, n.pooled(ctx)); err != nil {
			return driver.RevokeReply{}, fmt.Errorf("%w: %w", driver.ErrNotSent, err)
		}
	} else if left := n.server.quarantine(); left > 0 {
		return driver.RevokeReply{}, fmt.Errorf("%w: %w: for %v", driver.ErrNotSent, driver.ErrQuarantined, left)
	}
	type answer struct {
		reply  driver.RevokeReply
		marker string
		proven bool
	}
	a, err := call(ctx, n, "revoke", req.Key, func(s *commands) (a answer) {
		if a.marker, a.proven = s.Proven(s.sight.Expected()); a.proven {
			a.reply = s.Revoke(req)
		}
		n.server.tell("revoke", "%+v: %+v", req, a)
		return a
	})
	if err == nil && !a.proven {
		err = errUnproven
	}
	if errors.Is(err, errUnproven) && n.guard != nil {
		err = n.guard.Unread(a.marker)
	}
	return a.reply, err
}
