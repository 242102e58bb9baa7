package etcdlock

import (
	"context"

	"go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/lockscope/lockscope/lock/driver"
)

// remember says which claim a token's calls may have made.
func (n *node) remember(token string, c *claim) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.claims[token] = c
}

func (n *node) forget(token string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.claims, token)
}

func (n *node) claimOf(token string) *claim {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.claims[token]
}

// revision is the highest that any answer had so far: who asks now is told at least that.
func (n *node) revision() int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.seen
}

// observe notes the revision of an answer by a majority, and reports that the history has
// gone back since it was asked: the cluster was restored from a snapshot.
func (n *node) observe(header *etcdserverpb.ResponseHeader, known int64) (back bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if header.Revision >= known {
		n.seen = max(n.seen, header.Revision)
		return false
	}
	n.seen = header.Revision
	n.restarts++
	n.fence.mustRaise()
	return true
}

// restart tells once of a history that has gone back.
func (n *node) restart() *driver.Restart {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.restarts == 0 {
		return nil
	}
	n.restarts = 0
	return &driver.Restart{Witnessed: true, Left: n.memory}
}

// run does something in the background that Close waits for, unless the node is closed.
func (n *node) run(do func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.closed {
		n.work.Go(do)
	}
}

// Close implements driver.BlockingNode. Whoever still waits leaves the queue, as far as the
// cluster answers; leases that are idle end by themselves.
func (n *node) Close() error {
	n.mu.Lock()
	n.closed = true
	var left []*claim
	for key, c := range n.queued {
		left = append(left, c)
		delete(n.queued, key)
	}
	n.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), n.timeout)
	defer cancel()
	for _, c := range left {
		c.stop()
		_ = n.revoke(ctx, c)
	}
	n.end()
	n.work.Wait()
	return nil
}
