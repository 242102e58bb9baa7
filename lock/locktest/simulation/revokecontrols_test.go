//go:build !race

package simulation

import (
	"context"
	"regexp"
	"testing"

	"github.com/lockscope/lockscope/lock/driver"
)

// A revoke must leave the lock where it is. If it deletes the key, the next caller gets the lock while the lease
// that was revoked is valid. If nobody looks at the mark, the lease goes on.
func TestSimulationNoticesFlawsOfRevokes(t *testing.T) {
	for name, c := range map[string]struct {
		violation string
		wrap      func(*recorder) driver.BlockingNode
	}{
		"deletes the key": {": I1 ", func(n *recorder) driver.BlockingNode { return revokeDeletes{n} }},
		"mark ignored":    {": V1 ", func(n *recorder) driver.BlockingNode { return markIgnored{n} }},
	} {
		t.Run(name, func(t *testing.T) {
			mustMatchIn(t, regexp.MustCompile(c.violation), 1, func(seed uint64) (*plan, plant) {
				return newRevokes(seed), plant{wrap: func(_ *history, _ int, n driver.BlockingNode) driver.BlockingNode {
					return c.wrap(n.(*recorder))
				}}
			})
		})
	}
}

type revokeDeletes struct {
	*recorder
}

func (n revokeDeletes) Revoke(ctx context.Context, req driver.RevokeRequest) (driver.RevokeReply, error) {
	reply, err := n.recorder.Revoke(ctx, req)
	for _, s := range n.h.servers {
		if held, ok := s.Lock(req.Key); ok && s.Name() == n.Name() && driver.GrantOf(held.Token) == req.Grant {
			_, _ = n.Release(ctx, driver.ReleaseRequest{Key: req.Key, Token: held.Token})
		}
	}
	return reply, err
}

// markIgnored takes a refusal for a renewal, as if extend did not know marks.
type markIgnored struct{ *recorder }

func (n markIgnored) Extend(ctx context.Context, req driver.ExtendRequest) (driver.ExtendReply, error) {
	reply, err := n.recorder.Extend(ctx, req)
	if _, revoked := err.(*driver.RevokedError); revoked {
		return driver.ExtendDone, nil
	}
	return reply, err
}
