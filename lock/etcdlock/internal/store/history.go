package etcdlock

import (
	"context"

	"go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/lockscope/lockscope/lock/driver"
)

// remember records the claim that a token's calls may have made.
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

// revision is the highest revision in any answer so far: later answers have at least that.
func (n *node) revision() int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.seen
}

// observe records the revision of a majority's answer. back means that it is lower than the revision known at
// the request: the cluster was restored from a snapshot.
func (n *node) observe(header *etcdserverpb.ResponseHeader, known int64) (back bool) {
	n.noteTerm(header.RaftTerm)
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

// noteTerm notes the term of an answer: entries of that term were applied, so that no former leader can commit anything
// any more.
func (n *node) noteTerm(term uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.term = max(n.term, term)
}

// knownTerm is the highest term of any answer so far.
func (n *node) knownTerm() uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.term
}

// restart reports once that the cluster's history went back.
func (n *node) restart() *driver.Restart {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.restarts == 0 {
		return nil
	}
	n.restarts = 0
	return &driver.Restart{Witnessed: true, Left: n.memory}
}

// run starts a function in the background, unless the node is closed. Close waits for it.
func (n *node) run(do func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.closed {
		n.work.Go(do)
	}
}

// Close implements driver.BlockingNode. Waiting claims leave the queue if the cluster answers. Idle leases
// expire by themselves.
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
