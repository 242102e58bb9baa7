package etcdlock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
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
	claims   map[string]*claim // by token: claims that are a lock, or may become one
	queued   map[string]*claim // by key of the lock: claims of this process that wait
	watches  map[string]*watch // by directory
	wake     func(key string)
	seen     int64     // highest revision of any answer
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
	_, err := n.client.Get(ctx, n.fence.key)
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
	return driver.AcquireReply{Granted: true, Counter: c.fence, Run: 1}
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
	resp, sent, err := n.confirm(ctx, c, true)
	switch {
	case errors.Is(err, errGone):
		if resp != nil && len(resp.Kvs) > 0 {
			return driver.ExtendTaken, nil
		}
		return driver.ExtendGone, nil
	case err != nil:
		return 0, n.fail(err)
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

// compete makes a claim, and withdraws it if the caller does not wait. It replaces an unusable lease or base,
// once or twice.
func (n *node) compete(ctx context.Context, req driver.AcquireRequest) (driver.AcquireReply, error) {
	for range maxTerms {
		if err := n.ready(ctx, req.Floor); err != nil {
			return driver.AcquireReply{}, n.notSent(err)
		}
		began := n.clock()
		l, sent, err := n.lease(ctx, req.TTL, began)
		if err != nil {
			return driver.AcquireReply{}, n.notSent(err)
		}
		c := &claim{directory: n.directory(req.Key), record: req.Holder, ttl: req.TTL, leases: []*lease{l}}
		c.key = keyOf(c.directory, l.id)
		reply, err := n.bid(ctx, req, c, sent)
		if !errors.Is(err, errGone) {
			return reply, err
		}
	}
	return driver.AcquireReply{}, errNoTerm
}

// notSent marks a failure before the key was put.
func (n *node) notSent(err error) error { return fmt.Errorf("%w: %w", driver.ErrNotSent, n.fail(err)) }

// bid puts the key of a claim. A waiter's key is put in any case; other keys only if there is no claim yet.
// bid fails with errGone if the caller has to try again.
func (n *node) bid(ctx context.Context, req driver.AcquireRequest, c *claim, sent time.Duration) (driver.AcquireReply,
	error) {
	n.remember(req.Token, c)
	known, began := n.revision(), n.clock()
	resp, again, err := n.put(ctx, c, req.Waiter.Enqueue)
	c.unsure = again
	if errors.Is(err, rpctypes.ErrLeaseNotFound) {
		n.forget(req.Token)
		return driver.AcquireReply{}, errGone
	}
	if err != nil {
		c.unsure = true
		return driver.AcquireReply{}, err
	}
	at := resp.Header.Revision
	b, err := n.fence.read((*clientv3.GetResponse)(resp.Responses[0].GetResponseRange()), at)
	if resp.Succeeded {
		c.made, c.fence = at, b.value+uint64(at)
	}
	if n.observe(resp.Header, known) || err != nil || b.mod == 0 || lags(b.value+uint64(at), req.Floor) ||
		again && !resp.Succeeded { // the key that is in the way may be its own
		return driver.AcquireReply{}, n.withdraw(ctx, req, c, err)
	}
	if sent != 0 && resp.Header.RaftTerm == c.lease().term {
		c.lease().renew(sent)
	}
	if held := oldestOf(resp, req.Waiter.Enqueue); held != nil {
		return n.bidden(ctx, req, c, resp, held)
	}
	if !resp.Succeeded {
		return driver.AcquireReply{}, n.withdraw(ctx, req, c, nil)
	}
	if !c.lease().covers(c.ttl, began) {
		if _, began, err = n.confirm(ctx, c, true); err != nil {
			return driver.AcquireReply{}, n.withdraw(ctx, req, c, err)
		}
	}
	c.until = began + c.ttl
	return granted(c), nil
}

// bidden is the answer if another claim was there before.
func (n *node) bidden(
	ctx context.Context, req driver.AcquireRequest, c *claim, resp *clientv3.TxnResponse, held *mvccpb.KeyValue,
) (driver.AcquireReply, error) {
	n.forget(req.Token)
	if !resp.Succeeded {
		n.idle.put(c.lease())
		return n.refuse(ctx, held, true), nil
	}
	reply := n.refuse(ctx, held, false)
	reply.Ticket, reply.Ahead = c.made, n.queue(req, c, resp)
	return reply, nil
}

// withdraw takes back an unusable claim, so that another can be made. It returns errGone, or the error that
// prevented it.
func (n *node) withdraw(ctx context.Context, req driver.AcquireRequest, c *claim, why error) error {
	if _, _, err := n.remove(ctx, c, why != nil); err != nil {
		return err
	}
	n.forget(req.Token)
	if why != nil {
		return why
	}
	return errGone
}

// put creates the key. It returns the base, the oldest claim and, if this claim waits, the keys of all older
// claims.
func (n *node) put(ctx context.Context, c *claim, wait bool) (resp *clientv3.TxnResponse, again bool, err error) {
	fence := clientv3.OpGet(n.fence.key)
	oldest := clientv3.OpGet(c.directory, clientv3.WithFirstCreate()...)
	put := clientv3.OpPut(c.key, c.record, clientv3.WithLease(c.lease().id))
	known := clientv3.Compare(clientv3.CreateRevision(n.fence.key), ">", 0)
	if wait {
		all := clientv3.OpGet(c.directory, clientv3.WithPrefix(), clientv3.WithKeysOnly())
		free := clientv3.Compare(clientv3.CreateRevision(c.key), "=", 0)
		return n.commit(ctx, []clientv3.Cmp{known, free}, []clientv3.Op{fence, oldest, all, put}, []clientv3.Op{fence})
	}
	free := clientv3.Compare(clientv3.CreateRevision(c.directory), "=", 0).WithPrefix()
	return n.commit(ctx, []clientv3.Cmp{known, free}, []clientv3.Op{fence, put}, []clientv3.Op{fence, oldest})
}

// oldestOf returns the oldest claim that put met; nil if there was none.
func oldestOf(resp *clientv3.TxnResponse, wait bool) *mvccpb.KeyValue {
	if resp.Succeeded != wait {
		return nil
	}
	if kvs := resp.Responses[1].GetResponseRange().Kvs; len(kvs) > 0 {
		return kvs[0]
	}
	return nil
}

// refuse returns the holder and, if that is worth another request, the remaining time.
func (n *node) refuse(ctx context.Context, holder *mvccpb.KeyValue, ask bool) driver.AcquireReply {
	reply := driver.AcquireReply{Holder: string(holder.Value)}
	if !ask {
		return reply
	}
	left, err := repeat(ctx, func(ctx context.Context) (*clientv3.LeaseTimeToLiveResponse, error) {
		return n.client.TimeToLive(ctx, clientv3.LeaseID(holder.Lease))
	})
	switch {
	case holder.Lease == 0:
		reply.TTL = -1
	case err == nil:
		reply.TTL = max(time.Duration(left.TTL-1)*time.Second, time.Millisecond)
	}
	return reply
}
