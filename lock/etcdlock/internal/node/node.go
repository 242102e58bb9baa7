// Package node makes an etcd cluster a node of an engine: it maps the engine's requests to claims, and what becomes of a
// claim to replies.
package node

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/driver/claimlist"
	"github.com/lockscope/lockscope/lock/etcdlock/internal/claims"
	"github.com/lockscope/lockscope/lock/etcdlock/internal/store"
)

// Node is one cluster.
type Node struct {
	name   string
	store  *store.Store
	claims *claims.Protocol
	mine   *claimlist.Registry[*claims.Claim]
	fence  string        // key of the base of the fences
	memory time.Duration // how long a forgotten lock can be valid

	mu   sync.Mutex
	wake func(key string)
}

var _ driver.BlockingNode = (*Node)(nil)

// New returns the cluster as a node. Locks are below prefix, and a lock that the cluster forgot is valid for no longer than
// memory.
func New(name string, s *store.Store, prefix, fenceKey string, memory time.Duration) *Node {
	n := &Node{name: name, store: s, mine: claimlist.NewRegistry[*claims.Claim](), fence: fenceKey, memory: memory}
	n.claims = claims.New(s, prefix, fenceKey, n.notify)
	return n
}

// Name implements driver.BlockingNode.
func (n *Node) Name() string { return n.name }

// System implements driver.BlockingNode.
func (n *Node) System() string { return "etcd" }

// Warm implements driver.BlockingNode.
func (n *Node) Warm(ctx context.Context) error { return n.store.Warm(ctx, n.fence) }

// Capabilities implements driver.BlockingNode.
func (n *Node) Capabilities() driver.Capabilities {
	return driver.Capabilities{Peek: true, Revoke: true, Keep: true, Readers: true, Slots: true}
}

// Raise implements driver.BlockingNode. It is never called: one node is always a quorum.
func (n *Node) Raise(context.Context, driver.RaiseRequest) (bool, error) {
	return false, fmt.Errorf("%w: raise: etcd tokens cannot be raised", driver.ErrBadReply)
}

// Subscribe implements driver.BlockingNode. It needs no request.
func (n *Node) Subscribe(_ context.Context, _ string, wake func(key string)) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.wake = wake
	return nil
}

// notify makes the engine try again.
func (n *Node) notify(key string) {
	n.mu.Lock()
	wake := n.wake
	n.mu.Unlock()
	if wake != nil {
		wake(key)
	}
}

// Close implements driver.BlockingNode. Waiting claims leave the queue if the cluster answers. Idle leases
// expire by themselves.
func (n *Node) Close() error {
	n.store.Background.End()
	ctx, cancel := context.WithTimeout(context.Background(), n.store.Timeout)
	defer cancel()
	_, queued := n.mine.All()
	for _, c := range queued {
		_ = n.claims.End(ctx, c)
	}
	n.store.Background.Wait()
	return nil
}
