// Package node makes a ZooKeeper ensemble a node of an engine: it maps the engine's requests to claims, and what becomes of
// a claim to replies.
package node

import (
	"context"
	"errors"
	"sync"

	"github.com/go-zookeeper/zk"

	"github.com/lockscope/lockscope/lock/contrib/zklock/internal/claims"
	"github.com/lockscope/lockscope/lock/contrib/zklock/internal/store"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/driver/claimlist"
)

// Node is an ensemble, with one session.
type Node struct {
	name   string
	store  *store.Store
	claims *claims.Protocol
	mine   *claimlist.Registry[*claims.Claim]

	mu   sync.Mutex
	wake func(key string) // nil before Subscribe
}

var _ driver.BlockingNode = (*Node)(nil)

// New returns the ensemble as a node, with locks below a root.
func New(name string, s *store.Store, root string, acl []zk.ACL) *Node {
	n := &Node{name: name, store: s, mine: claimlist.NewRegistry[*claims.Claim]()}
	n.claims = claims.New(s, root, acl, n.notify)
	return n
}

// Name implements driver.BlockingNode.
func (n *Node) Name() string { return n.name }

// System implements driver.BlockingNode.
func (n *Node) System() string { return "zookeeper" }

// Warm implements driver.BlockingNode. It waits for a session until every server was tried.
func (n *Node) Warm(ctx context.Context) error { return n.store.Session.AwaitTried(ctx) }

// Capabilities implements driver.BlockingNode.
func (n *Node) Capabilities() driver.Capabilities {
	return driver.Capabilities{Peek: true, Revoke: true, Readers: true, Slots: true}
}

// Raise implements driver.BlockingNode. There is one counter, and so nothing to agree on.
func (n *Node) Raise(context.Context, driver.RaiseRequest) (bool, error) {
	return false, errors.ErrUnsupported
}

// Subscribe implements driver.BlockingNode. Waiters watch the claim in front.
func (n *Node) Subscribe(_ context.Context, _ string, wake func(key string)) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.wake == nil {
		n.wake = wake
	}
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

// Close implements driver.BlockingNode. It ends the session and with it every claim. If a lock is held, it
// lets the session expire instead.
func (n *Node) Close() error {
	n.store.Background.End()
	held := false
	made, _ := n.mine.All()
	for _, c := range made {
		held = c.Stop() || held
	}
	err := n.store.Session.Close(held)
	n.store.Background.Wait()
	return err
}
