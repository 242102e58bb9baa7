package cluster

import (
	"context"
	"fmt"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/internal/scripts"
)

// Revoke implements driver.BlockingNode.
func (n *Node) Revoke(ctx context.Context, req driver.RevokeRequest) (driver.RevokeReply, error) {
	whole := server{n.scripts.Server(n.client, n.guard.Latest), n.client}
	if err := n.guard.AdmitReader(ctx, whole); err != nil {
		return driver.RevokeReply{}, fmt.Errorf("%w: %w", driver.ErrNotSent, err)
	}
	n.probes.begin(n.guard, whole)
	args := append(n.scripts.RevokeArgs(&req, scripts.InCluster()), n.guard.Latest().Expected())
	val, err := n.run(ctx, n.scripts.Revoke, args)
	if err != nil {
		return driver.RevokeReply{}, err
	}
	return scripts.Revoked(n.guard, &req, val)
}
