package etcdlock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
)

// node is one cluster.
type node struct {
	name, prefix string
	client       *clientv3.Client
	leases       etcdserverpb.LeaseClient
	clock        engine.Clock
	memory       time.Duration // how long a forgotten lock can be valid
	timeout      time.Duration // of calls in the background
	fence        fenceBase
	idle         idleLeases

	life context.Context
	end  context.CancelFunc
	work sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	claims   map[string]*claim        // by token: claims that are a lock, or may become one
	queued   map[string]*claim        // by key of the lock: claims of this process that wait
	watches  map[string]*watch        // by directory
	numbers  map[string]time.Duration // when this process renewed numbers of slots, by key
	wake     func(key string)
	seen     int64     // highest revision of any answer
	term     uint64    // highest term of any answer
	restarts int       // not reported yet
	woken    time.Time // when the client's back-off was last reset
}

var _ driver.BlockingNode = (*node)(nil)

func newNode(client *clientv3.Client, name string, base *engine.Settings, s settings) *node {
	life, end := context.WithCancel(context.Background())
	return &node{
		name: name, prefix: base.Prefix, client: client, leases: clientv3.RetryLeaseClient(client),
		clock: base.Clock, memory: base.MaxTTL, timeout: base.LongestNodeTimeout(),
		fence: fenceBase{key: s.fenceKey}, idle: idleLeases{bySeconds: make(map[int64][]*lease)},
		life: life, end: end,
		claims: make(map[string]*claim), queued: make(map[string]*claim), watches: make(map[string]*watch),
		numbers: make(map[string]time.Duration),
	}
}

// Name implements driver.BlockingNode.
func (n *node) Name() string { return n.name }

// System implements driver.BlockingNode.
func (n *node) System() string { return "etcd" }

// Warm connects with a request that a majority answers. It waits no longer than a call, and not at all if no
// member takes connections.
func (n *node) Warm(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, n.timeout)
	defer cancel()
	if err := n.knock(ctx); err != nil {
		return err
	}
	resp, err := n.client.Get(ctx, n.fence.key)
	if err == nil {
		n.noteTerm(resp.Header.RaftTerm)
	}
	return n.fail(err)
}

// Acquire implements driver.BlockingNode.
func (n *node) Acquire(ctx context.Context, req driver.AcquireRequest) (driver.AcquireReply, error) {
	if c := n.claimOf(req.Token); c != nil && c.until != 0 {
		return granted(c), nil
	}
	var reply driver.AcquireReply
	if err := n.reachable(ctx); err != nil {
		return reply, err
	}
	c, err := n.waiting(req), errGone
	if c != nil {
		reply, err = n.promote(ctx, req, c)
	}
	if errors.Is(err, errGone) {
		reply, err = n.compete(ctx, req)
	}
	reply.Restart = n.restart()
	return reply, n.fail(err)
}

func granted(c *claim) driver.AcquireReply {
	return driver.AcquireReply{Granted: true, Counter: c.fence, Run: 1, Slots: c.slots()}
}

// Raise implements driver.BlockingNode. It is never called: one node is always a quorum.
func (n *node) Raise(context.Context, driver.RaiseRequest) (bool, error) {
	return false, fmt.Errorf("%w: raise: etcd tokens cannot be raised", driver.ErrBadReply)
}

// Extend implements driver.BlockingNode.
func (n *node) Extend(ctx context.Context, req driver.ExtendRequest) (driver.ExtendReply, error) {
	c := n.claimOf(req.Token)
	if c == nil || c.made == 0 {
		return driver.ExtendGone, nil
	}
	v, sent, err := n.confirm(ctx, c, true)
	switch {
	case errors.Is(err, errGone):
		if v != nil && len(v.kvs) > 0 {
			return driver.ExtendTaken, nil
		}
		return driver.ExtendGone, nil
	case isRevoked(err):
		return 0, err
	case err != nil:
		return 0, n.fail(err)
	}
	if s := c.semaphore; s != nil {
		if v.slots != 0 && s.Slot >= v.slots {
			return driver.ExtendNoSlot, nil
		}
		if err := n.keepSlots(ctx, s, v.slots); err != nil {
			return 0, n.fail(err)
		}
	}
	c.until = sent + req.TTL
	if req.Rename && req.Holder != c.record {
		if err := n.rename(ctx, c, req.Holder); err == nil {
			c.record = req.Holder
		}
	}
	return driver.ExtendDone, nil
}

// Release implements driver.BlockingNode. The next waiter sees by its watch that it is first.
func (n *node) Release(ctx context.Context, req driver.ReleaseRequest) (driver.ReleaseReply, error) {
	c := n.claimOf(req.Token)
	if c == nil {
		return driver.ReleaseReply{Found: driver.FoundNothing}, nil
	}
	if c.renaming != nil {
		c.renaming.Stop()
	}
	over := c.until != 0 && n.clock() >= c.until
	found, first, err := n.remove(ctx, c, req.Tombstone > 0)
	if err != nil {
		return driver.ReleaseReply{}, n.fail(err)
	}
	n.forget(req.Token)
	switch {
	case found && !over:
		return driver.ReleaseReply{Found: driver.FoundOwn}, nil
	case first != nil:
		return driver.ReleaseReply{Found: driver.FoundOther}, nil
	}
	return driver.ReleaseReply{Found: driver.FoundNothing}, nil
}
