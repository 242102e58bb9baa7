package claims

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/lockscope/lockscope/lock/driver/claimlist"
	"github.com/lockscope/lockscope/lock/etcdlock/internal/store"
)

// Prepare returns a claim for Enter. Nothing of it exists yet: it has an etcd lease, and the base of its fence is ready.
func (p *Protocol) Prepare(ctx context.Context, w claimlist.Want) (*Claim, error) {
	if err := p.fences.ready(ctx, w.Floor); err != nil {
		return nil, p.store.NotSent(err)
	}
	l, sent, err := p.store.Lease(ctx, w.TTL, p.store.Now())
	if err != nil {
		return nil, p.store.NotSent(err)
	}
	directory := p.layout.directory(w.Key)
	return &Claim{
		want: w, directory: directory, key: keyOf(directory, l.ID, w.Reads), sent: sent, leases: []*store.Lease{l},
	}, nil
}

// Enter puts the key of a claim. A waiter's key is put in any case; other keys only if there is no claim yet. Enter fails
// with ErrGone if the caller has to prepare another claim: the etcd lease had ended, or the base of the fences is not the
// one that the claim was prepared for.
func (p *Protocol) Enter(ctx context.Context, c *Claim) (claimlist.Entry, error) {
	began := p.store.Now()
	m, err := p.put(ctx, c)
	if errors.Is(err, rpctypes.ErrLeaseNotFound) {
		c.over.Store(true)
		return claimlist.Entry{}, claimlist.ErrGone
	}
	if err != nil {
		c.unsure.Store(true)
		return claimlist.Entry{}, err
	}
	c.unsure.Store(m.Again)
	at := m.Header.Revision
	b, err := p.fences.read(m.base, at)
	if m.Succeeded {
		c.made, c.fence = at, b.value+uint64(at)
	}
	if m.Rewound || err != nil || b.mod == 0 || lags(b.value+uint64(at), c.want.Floor) ||
		m.Again && !m.Succeeded { // the key that is in the way may be its own
		return claimlist.Entry{}, p.withdraw(ctx, c, err)
	}
	if c.sent != 0 && m.Header.RaftTerm == c.lease().Term {
		c.lease().Renew(c.sent)
	}
	switch {
	case !m.Succeeded && !c.agrees(m.slots):
		return p.otherSlots(ctx, c, m.slots)
	case m.rival != nil && m.Succeeded == c.want.Waits:
		return p.refused(ctx, c, m), nil
	case !m.Succeeded:
		return claimlist.Entry{}, p.withdraw(ctx, c, nil)
	case !c.lease().Covers(c.want.TTL, began):
		if _, began, err = p.confirm(ctx, c, true); err != nil {
			return claimlist.Entry{}, p.withdraw(ctx, c, err)
		}
	}
	if c.want.Semaphore != nil {
		p.numbers.renew(c.want.Semaphore)
	}
	c.until = began + c.want.TTL
	return c.Granted(), nil
}

// refused is where a claim stands if another was there before. It waits if its key was put.
func (p *Protocol) refused(ctx context.Context, c *Claim, m *met) claimlist.Entry {
	e := claimlist.Entry{
		Record: string(m.rival.Value), Waits: m.Succeeded, Ahead: len(m.before),
		Reserved: m.first != nil && m.first.CreateRevision < m.rival.CreateRevision, Slots: c.want.Slots(),
	}
	if !e.Waits {
		e.Left = leftOf(ctx, p.store, m.rival)
		c.over.Store(true)
		p.store.Reuse(c.lease())
		return e
	}
	e.Ticket = c.made
	p.keep(c)
	p.watches.follow(c, m.before)
	return e
}

// leftOf is how long a claim's lease still lives; 0 if that is unknown.
func leftOf(ctx context.Context, s *store.Store, claim *mvccpb.KeyValue) time.Duration {
	left, _, _, err := s.Left(ctx, claim.Lease)
	switch {
	case left < 0:
		return -1
	case err != nil:
		return 0
	}
	return max(left-time.Second, time.Millisecond) // a lease has a second to spare
}

// withdraw takes back an unusable claim, so that another can be made. It returns ErrGone, or the error that prevented it.
func (p *Protocol) withdraw(ctx context.Context, c *Claim, why error) error {
	if _, _, err := p.Remove(ctx, c, why != nil); err != nil {
		return err
	}
	if why != nil {
		return why
	}
	return claimlist.ErrGone
}

// otherSlots ends a claim whose semaphore has another number of slots than the claim says. It fails with ErrGone if none
// was known: then the claim's is known now, and the caller has to try again.
func (p *Protocol) otherSlots(ctx context.Context, c *Claim, known int) (claimlist.Entry, error) {
	p.stopWaiting(c)
	if c.made == 0 {
		c.over.Store(true)
		p.store.Reuse(c.lease())
	} else if _, _, err := p.Remove(ctx, c, false); err != nil {
		p.Retire(c)
	}
	switch {
	case known < 0:
		return claimlist.Entry{}, p.numbers.misconfigured(c.want.Semaphore.Key)
	case known > 0:
		return claimlist.Entry{Slots: known}, nil
	}
	if _, err := p.numbers.take(ctx, c.want.Semaphore); err != nil {
		return claimlist.Entry{}, err
	}
	return claimlist.Entry{}, claimlist.ErrGone
}

// met is what the transaction that makes a claim has met. It has succeeded if the claim's key was put.
type met struct {
	*store.Answer
	base   []*mvccpb.KeyValue
	rival  *mvccpb.KeyValue   // the oldest claim that excludes this one; nil if there is none
	first  *mvccpb.KeyValue   // the oldest claim of all; nil if the claim is no reader's
	before []*mvccpb.KeyValue // all that exclude this one, if it waits
	slots  int                // how many the semaphore has; 0 if unknown
}

// put creates the key. A claim that waits is put in any case; others only if no other excludes them.
func (p *Protocol) put(ctx context.Context, c *Claim) (*met, error) {
	m := &met{}
	var cmps []clientv3.Cmp
	var ops []clientv3.Op
	var readers []func([]*mvccpb.KeyValue)
	read := func(op clientv3.Op, to func([]*mvccpb.KeyValue)) { ops, readers = append(ops, op), append(readers, to) }
	read(clientv3.OpGet(p.fences.key), func(kvs []*mvccpb.KeyValue) { m.base = kvs })
	cmps = append(cmps, clientv3.Compare(clientv3.CreateRevision(p.fences.key), ">", 0))
	read(c.oldestRival(), func(kvs []*mvccpb.KeyValue) { m.rival = firstOf(kvs) })
	if c.want.Reads {
		op := clientv3.OpGet(c.directory, clientv3.WithFirstCreate()...)
		read(op, func(kvs []*mvccpb.KeyValue) { m.first = firstOf(kvs) })
	}
	if c.want.Waits {
		read(clientv3.OpGet(c.directory, c.rivals(), clientv3.WithKeysOnly()),
			func(kvs []*mvccpb.KeyValue) { m.before = kvs })
		// An earlier try may have put it. Put again, the claim would stand behind itself.
		cmps = append(cmps, clientv3.Compare(clientv3.CreateRevision(c.key), "=", 0))
	} else {
		cmps = append(cmps, c.noRival())
	}
	if s := c.want.Semaphore; s != nil {
		key := p.layout.slots(s.Key)
		read(clientv3.OpGet(key), func(kvs []*mvccpb.KeyValue) { m.slots = slotsIn(kvs) })
		cmps = append(cmps, clientv3.Compare(clientv3.Value(key), "=", fmt.Sprint(s.Slots)))
	}
	put := clientv3.OpPut(c.key, c.want.Record, clientv3.WithLease(c.lease().ID))
	answer, err := p.store.Commit(ctx, cmps, append(ops[:len(ops):len(ops)], put), ops)
	if err != nil {
		return nil, err
	}
	m.Answer = answer
	for i, to := range readers {
		to(answer.Keys(i))
	}
	return m, nil
}

func firstOf(kvs []*mvccpb.KeyValue) *mvccpb.KeyValue {
	if len(kvs) == 0 {
		return nil
	}
	return kvs[0]
}
