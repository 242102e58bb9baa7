package etcdlock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/lockscope/lockscope/lock/driver"
)

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
		c := &claim{
			directory: n.directory(req.Key), record: req.Holder, ttl: req.TTL, leases: []*lease{l},
			reads: req.Mode == driver.Read, semaphore: req.Semaphore,
		}
		c.key = keyOf(c.directory, l.id, c.reads)
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
	m, again, err := n.put(ctx, c, req.Waiter.Enqueue)
	c.unsure.Store(again)
	if errors.Is(err, rpctypes.ErrLeaseNotFound) {
		n.forget(req.Token)
		return driver.AcquireReply{}, errGone
	}
	if err != nil {
		c.unsure.Store(true)
		return driver.AcquireReply{}, err
	}
	at := m.header.Revision
	b, err := n.fence.read(m.base, at)
	if m.made {
		c.made, c.fence = at, b.value+uint64(at)
	}
	if n.observe(m.header, known) || err != nil || b.mod == 0 || lags(b.value+uint64(at), req.Floor) ||
		again && !m.made { // the key that is in the way may be its own
		return driver.AcquireReply{}, n.withdraw(ctx, req, c, err)
	}
	if sent != 0 && m.header.RaftTerm == c.lease().term {
		c.lease().renew(sent)
	}
	if !m.made && !c.agrees(m.slots) {
		return n.otherSlots(ctx, req, c, m.slots)
	}
	if m.rival != nil {
		return n.bidden(ctx, req, c, m)
	}
	if !m.made {
		return driver.AcquireReply{}, n.withdraw(ctx, req, c, nil)
	}
	if !c.lease().covers(c.ttl, began) {
		if _, began, err = n.confirm(ctx, c, true); err != nil {
			return driver.AcquireReply{}, n.withdraw(ctx, req, c, err)
		}
	}
	if c.semaphore != nil {
		n.renewSlots(c.semaphore)
	}
	c.until = began + c.ttl
	return granted(c), nil
}

// bidden is the answer if another claim was there before.
func (n *node) bidden(
	ctx context.Context, req driver.AcquireRequest, c *claim, m *met,
) (driver.AcquireReply, error) {
	n.forget(req.Token)
	reply := n.refuse(ctx, m.rival, !m.made)
	reply.Reserved = m.first != nil && m.first.CreateRevision < m.rival.CreateRevision
	reply.Slots = c.slots()
	if !m.made {
		n.idle.put(c.lease())
		return reply, nil
	}
	reply.Ticket, reply.Ahead = c.made, n.queue(req, c, m.before)
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

// met is what the transaction that makes a claim has met.
type met struct {
	header *etcdserverpb.ResponseHeader
	made   bool // the claim's key was put
	base   *clientv3.GetResponse
	rival  *mvccpb.KeyValue   // the oldest claim that excludes this one; nil if there is none
	first  *mvccpb.KeyValue   // the oldest claim of all; nil if the claim is no reader's
	before []*mvccpb.KeyValue // all that exclude this one, if it waits
	slots  int                // how many the semaphore has, if the claim was not put; 0 if unknown
}

// question is an operation of a transaction, and who takes its answer.
type question struct {
	op clientv3.Op
	to func(*clientv3.GetResponse)
}

// put creates the key. A claim that waits is put in any case; others only if no other excludes them.
func (n *node) put(ctx context.Context, c *claim, wait bool) (m *met, again bool, err error) {
	m = &met{}
	fence := question{clientv3.OpGet(n.fence.key), func(r *clientv3.GetResponse) { m.base = r }}
	oldest := []question{{c.oldestRival(), func(r *clientv3.GetResponse) { m.rival = firstOf(r) }}}
	if c.reads {
		op := clientv3.OpGet(c.directory, clientv3.WithFirstCreate()...)
		oldest = append(oldest, question{op, func(r *clientv3.GetResponse) { m.first = firstOf(r) }})
	}
	put := question{op: clientv3.OpPut(c.key, c.record, clientv3.WithLease(c.lease().id))}
	cmps := []clientv3.Cmp{clientv3.Compare(clientv3.CreateRevision(n.fence.key), ">", 0)}
	then, otherwise := []question{fence}, []question{fence}
	if wait {
		all := clientv3.OpGet(c.directory, c.rivals(), clientv3.WithKeysOnly())
		then = append(then, oldest...)
		then = append(then, question{all, func(r *clientv3.GetResponse) { m.before = r.Kvs }})
		cmps = append(cmps, clientv3.Compare(clientv3.CreateRevision(c.key), "=", 0))
	} else {
		otherwise = append(otherwise, oldest...)
		cmps = append(cmps, c.noRival())
	}
	if s := c.semaphore; s != nil {
		key := n.slotsKey(s.Key)
		cmps = append(cmps, clientv3.Compare(clientv3.Value(key), "=", fmt.Sprint(s.Slots)))
		otherwise = append(otherwise,
			question{clientv3.OpGet(key), func(r *clientv3.GetResponse) { m.slots = slotsIn(r.Kvs) }})
	}
	resp, again, err := n.commit(ctx, cmps, opsOf(append(then, put)), opsOf(otherwise))
	if err != nil {
		return nil, again, err
	}
	m.header, m.made = resp.Header, resp.Succeeded
	asked := otherwise
	if m.made {
		asked = then
	}
	for i, q := range asked {
		q.to((*clientv3.GetResponse)(resp.Responses[i].GetResponseRange()))
	}
	return m, again, nil
}

func opsOf(questions []question) (ops []clientv3.Op) {
	for _, q := range questions {
		ops = append(ops, q.op)
	}
	return ops
}

func firstOf(r *clientv3.GetResponse) *mvccpb.KeyValue {
	if len(r.Kvs) == 0 {
		return nil
	}
	return r.Kvs[0]
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
