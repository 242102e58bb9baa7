package etcdlock

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/lockscope/lockscope/lock/driver"
)

// claim is a key of this process in a resource's directory. The oldest key holds the lock; the others are
// the queue. Readers hold it together if no other claim is older than they are. The revision that created the
// key identifies the claim: a key that was deleted and created again is another claim.
type claim struct {
	directory string
	key       string
	record    string        // holder record: the key's value
	ttl       time.Duration // of the lock
	made      int64         // revision that created the key; 0 if unknown
	fence     uint64
	reads     bool              // it shares the lock with other readers
	semaphore *driver.Semaphore // whose slot the lock is; nil for other locks

	// Used only by the calls about the resource, which run one after the other.
	until    time.Duration // when the lock ends without renewal; 0 before it is held
	renaming *time.Timer   // writes the holder's record after a wait

	// A call without an answer may still put or delete the key. Releases of one claim may run at the same time.
	unsure atomic.Bool

	mu     sync.Mutex
	leases []*lease    // that the key was put under; the last one counts
	keeper *time.Timer // renews the lease while the claim waits
	left   bool        // the claim no longer waits
}

func (c *claim) lease() *lease {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.leases[len(c.leases)-1]
}

// ours reports whether a key is this claim.
func (c *claim) ours(kv *mvccpb.KeyValue) bool {
	return string(kv.Key) == c.key && kv.CreateRevision == c.made
}

func (c *claim) isThere() clientv3.Cmp {
	return clientv3.Compare(clientv3.CreateRevision(c.key), "=", c.made)
}

// view is a claim and those that keep it from the lock, the oldest first, as of one revision.
type view struct {
	header *etcdserverpb.ResponseHeader
	kvs    []*mvccpb.KeyValue
	slots  int // how many the claim's semaphore has; 0 if it is no slot, or none are known
}

// first reports whether nobody keeps the claim from the lock.
func (v *view) first(c *claim) bool { return c.ours(v.kvs[0]) }

// look reads this claim and the older ones that exclude it. It fails with errGone if this one is missing, and with a
// driver.RevokedError if it holds the lock and is marked.
func (n *node) look(ctx context.Context, c *claim) (*view, error) {
	ops := []clientv3.Op{
		clientv3.OpGet(c.directory, c.rivals(), clientv3.WithMaxCreateRev(c.made),
			clientv3.WithSort(clientv3.SortByCreateRevision, clientv3.SortAscend)),
	}
	if c.reads {
		ops = append(ops, clientv3.OpGet(c.key, clientv3.WithMaxCreateRev(c.made)))
	}
	if c.semaphore != nil {
		ops = append(ops, clientv3.OpGet(n.slotsKey(c.semaphore.Key)))
	}
	slots := len(ops) - 1
	if c.until != 0 {
		ops = append(ops, n.markOp(c))
	}
	known := n.revision()
	resp, _, err := n.commit(ctx, nil, ops, nil)
	if err != nil {
		return nil, err
	}
	n.observe(resp.Header, known)
	v := &view{header: resp.Header, kvs: resp.Responses[0].GetResponseRange().Kvs}
	if c.reads {
		v.kvs = append(v.kvs, resp.Responses[1].GetResponseRange().Kvs...)
	}
	if c.semaphore != nil {
		v.slots = slotsIn(resp.Responses[slots].GetResponseRange().Kvs)
	}
	if !slices.ContainsFunc(v.kvs, c.ours) {
		return v, errGone
	}
	if c.until != 0 {
		return v, revoked(resp.Responses[len(ops)-1].GetResponseRange().Kvs)
	}
	return v, nil
}

// maxTerms is how many leaders in a row a call may meet.
const maxTerms = 3

// confirm renews the claim's lease, always or if it does not cover the lock from now on, and then looks. It
// fails with errGone, or the claim has a lease that began at sent.
//
// A keep-alive is not a proposal. Only a look after it, through a majority and in the same term, proves that
// the leader took it. A leader that stood still may also revoke all leases that were not renewed on it
// (etcd-io/etcd#15247; releases until the end of 2023). So in another term than the lease's own, the claim
// moves to a new lease, which no former leader knows.
func (n *node) confirm(ctx context.Context, c *claim, always bool) (v *view, sent time.Duration, err error) {
	for range maxTerms {
		sent = n.clock()
		covered := !always && c.lease().covers(c.ttl, sent)
		var term uint64
		if !covered {
			term, err = n.keepAlive(ctx, c.lease().id)
			if err != nil && !errors.Is(err, rpctypes.ErrLeaseNotFound) {
				return nil, 0, err
			}
		}
		v, err = n.look(ctx, c)
		switch {
		case err != nil || covered:
			return v, sent, err
		case term != v.header.RaftTerm:
			continue
		case term != c.lease().term:
			if sent, err = n.move(ctx, c); err == nil {
				return v, sent, nil
			}
			return v, 0, err
		}
		c.lease().renew(sent)
		return v, sent, nil
	}
	return nil, 0, errNoTerm
}

// move puts a claim under a new lease, if it still exists.
func (n *node) move(ctx context.Context, c *claim) (sent time.Duration, err error) {
	sent = n.clock()
	l, err := n.grant(ctx, c.lease().seconds)
	if err != nil {
		return 0, err
	}
	c.mu.Lock()
	c.leases = append(c.leases, l)
	c.mu.Unlock()
	put := clientv3.OpPut(c.key, "", clientv3.WithIgnoreValue(), clientv3.WithLease(l.id))
	resp, again, err := n.commit(ctx, []clientv3.Cmp{c.isThere()}, []clientv3.Op{put}, nil)
	if again {
		c.unsure.Store(true)
	}
	switch {
	case err != nil:
		c.unsure.Store(true)
		return 0, err
	case !resp.Succeeded:
		return 0, errGone
	}
	return sent, nil
}

// rename writes another holder record, if the claim still exists.
func (n *node) rename(ctx context.Context, c *claim, record string) error {
	put := clientv3.OpPut(c.key, record, clientv3.WithIgnoreLease())
	_, _, err := n.commit(ctx, []clientv3.Cmp{c.isThere()}, []clientv3.Op{put}, nil)
	return err
}

// commit runs a transaction, on several members if need be. again means that an earlier try may have
// taken effect.
func (n *node) commit(ctx context.Context, cmps []clientv3.Cmp, then,
	otherwise []clientv3.Op) (resp *clientv3.TxnResponse, again bool, err error) {
	return repeated(ctx, func(ctx context.Context) (*clientv3.TxnResponse, error) {
		return n.client.Txn(ctx).If(cmps...).Then(then...).Else(otherwise...).Commit()
	})
}

// remove deletes the key of a claim. If it is missing, remove returns the oldest claim that excludes it. If a late call
// may still create the key, remove revokes the claim's leases, so that nothing can be put under them.
func (n *node) remove(ctx context.Context, c *claim, bury bool) (found bool, first *mvccpb.KeyValue, err error) {
	if bury || c.unsure.Load() || c.made == 0 {
		return c.made != 0, nil, n.revoke(ctx, c)
	}
	known := n.revision()
	resp, again, err := n.commit(ctx, []clientv3.Cmp{c.isThere()}, []clientv3.Op{clientv3.OpDelete(c.key)},
		[]clientv3.Op{c.oldestRival()})
	if errors.Is(err, rpctypes.ErrNoSpace) {
		return true, nil, n.revoke(ctx, c) // 3.4 refuses any transaction then
	}
	if err != nil {
		c.unsure.Store(true)
		return false, nil, err
	}
	n.observe(resp.Header, known)
	if resp.Succeeded || again { // if not now, by a try whose answer did not come
		n.idle.put(c.lease())
		return true, nil, nil
	}
	if kvs := resp.Responses[0].GetResponseRange().Kvs; len(kvs) > 0 {
		first = kvs[0]
	}
	return false, first, nil
}

func (n *node) revoke(ctx context.Context, c *claim) error {
	c.mu.Lock()
	leases := slices.Clone(c.leases)
	c.mu.Unlock()
	for _, l := range leases {
		_, err := repeat(ctx, func(ctx context.Context) (*clientv3.LeaseRevokeResponse,
			error) {
			return n.client.Revoke(ctx, l.id)
		})
		if err != nil && !errors.Is(err, rpctypes.ErrLeaseNotFound) {
			c.unsure.Store(true)
			return err
		}
	}
	return nil
}
