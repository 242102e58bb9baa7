package claims

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/driver/claimlist"
)

// probe reads this claim and the older ones that exclude it. It fails with ErrGone if this one is missing, and with a
// driver.RevokedError if it holds the lock and is marked. held says that it holds the lock: a watch probes a claim that
// waits while another call may be granted the lock.
func (p *Protocol) probe(ctx context.Context, c *Claim, held bool) (*Observation, error) {
	ops := []clientv3.Op{
		clientv3.OpGet(c.directory, c.rivals(), clientv3.WithMaxCreateRev(c.made),
			clientv3.WithSort(clientv3.SortByCreateRevision, clientv3.SortAscend)),
	}
	if c.want.Reads { // its own key is not among the rivals
		ops = append(ops, clientv3.OpGet(c.key, clientv3.WithMaxCreateRev(c.made)))
	}
	claims := len(ops)
	if s := c.want.Semaphore; s != nil {
		ops = append(ops, clientv3.OpGet(p.layout.slots(s.Key)))
	}
	if held {
		ops = append(ops, clientv3.OpGet(p.layout.mark(c.directory, c.made)))
	}
	answer, err := p.store.Commit(ctx, nil, ops, nil)
	if err != nil {
		return nil, err
	}
	o := &Observation{revision: answer.Header.Revision, term: answer.Header.RaftTerm}
	for op := range claims {
		o.kvs = append(o.kvs, answer.Keys(op)...)
	}
	if c.want.Semaphore != nil {
		o.slots = slotsIn(answer.Keys(claims))
	}
	own := slices.IndexFunc(o.kvs, c.is)
	if own < 0 {
		return o, claimlist.ErrGone
	}
	if o.lease = clientv3.LeaseID(o.kvs[own].Lease); held {
		return o, revoked(answer.Keys(len(ops) - 1))
	}
	return o, nil
}

// revoked is the refusal to renew a claim that is marked; nil if none of these keys is a mark.
func revoked(marks []*mvccpb.KeyValue) error {
	if len(marks) == 0 {
		return nil
	}
	return fmt.Errorf("etcdlock: %w", &driver.RevokedError{Record: string(marks[0].Value)})
}

// MaxTerms is how many leaders in a row a call may meet.
const MaxTerms = 3

// confirm renews the claim's lease, always or if it does not cover the lock from now on, and then probes. It fails with
// ErrGone, or the claim has a lease that began at sent.
//
// A keep-alive is not a proposal. Only a probe after it, through a majority and in the same term, proves that the leader
// took it. The counter-example: a leader is stopped, another is elected and lets the lease end, the first wakes up and
// answers the keep-alive that waited for it.
//
// A leader that was paused may also revoke all leases that were not renewed on it (etcd-io/etcd#15247; releases until the
// end of 2023). So in another term than the lease's own, the claim moves to a new lease, which no former leader knows.
//
// A move without an answer may be lost. Its key then stays under the previous lease and expires with that, although the
// keep-alives of the new lease succeed. So a claim moves again if its key is under another lease than its own.
func (p *Protocol) confirm(ctx context.Context, c *Claim, always bool) (o *Observation, sent time.Duration, err error) {
	for range MaxTerms {
		sent = p.store.Now()
		covered := !always && c.lease().Covers(c.want.TTL, sent)
		var term uint64
		if !covered {
			term, err = p.store.KeepAlive(ctx, c.lease().ID)
			if err != nil && !errors.Is(err, rpctypes.ErrLeaseNotFound) {
				return nil, 0, err
			}
		}
		o, err = p.probe(ctx, c, c.Held())
		switch {
		case err != nil:
			return o, sent, err
		case !covered && term != o.term:
			continue
		case o.lease != c.lease().ID, !covered && term != c.lease().Term:
			sent, err = p.move(ctx, c, o.lease)
			return o, sent, err
		case !covered:
			c.lease().Renew(sent)
		}
		return o, sent, nil
	}
	return nil, 0, ErrNoTerm
}

// move puts a claim under a new lease, if it still exists under the one that was seen. A move before, which comes late,
// does nothing then.
func (p *Protocol) move(ctx context.Context, c *Claim, from clientv3.LeaseID) (sent time.Duration, err error) {
	sent = p.store.Now()
	l, err := p.store.Grant(ctx, c.lease().Seconds)
	if err != nil {
		return 0, err
	}
	c.mu.Lock()
	c.leases = append(c.leases, l)
	c.mu.Unlock()
	there := []clientv3.Cmp{c.isThere(), clientv3.Compare(clientv3.LeaseValue(c.key), "=", from)}
	put := clientv3.OpPut(c.key, "", clientv3.WithIgnoreValue(), clientv3.WithLease(l.ID))
	answer, err := p.store.Commit(ctx, there, []clientv3.Op{put}, []clientv3.Op{clientv3.OpGet(c.key)})
	if err != nil || answer.Again {
		c.unsure.Store(true)
	}
	switch {
	case err != nil:
		return 0, err
	case answer.Succeeded:
		return sent, nil
	}
	for _, kv := range answer.Keys(0) {
		switch {
		case !c.is(kv):
		case kv.Lease == int64(l.ID): // an earlier try has taken effect
			return sent, nil
		default: // a move before has: the next renewal moves it from there
			return 0, ErrNoTerm
		}
	}
	return 0, claimlist.ErrGone
}

// Renew prolongs the lock for its TTL from now on, which may be another than before. It fails with ErrGone, ErrNoSlot or a
// driver.RevokedError if it cannot be prolonged; an Observation beside ErrGone says whether others are there.
func (p *Protocol) Renew(ctx context.Context, c *Claim, ttl time.Duration) (*Observation, error) {
	o, sent, err := p.confirm(ctx, c, true)
	if err != nil {
		return o, err
	}
	if s := c.want.Semaphore; s != nil {
		if o.slots != 0 && s.Slot >= o.slots {
			return o, claimlist.ErrNoSlot
		}
		if err := p.numbers.keep(ctx, s, o.slots); err != nil {
			return o, err
		}
	}
	c.until = sent + ttl
	return o, nil
}

// Rename writes another holder record, if the claim still exists.
func (p *Protocol) Rename(ctx context.Context, c *Claim, record string) {
	if record != c.want.Record && p.rename(ctx, c, record) == nil {
		c.want.Record = record
	}
}

func (p *Protocol) rename(ctx context.Context, c *Claim, record string) error {
	put := clientv3.OpPut(c.key, record, clientv3.WithIgnoreLease())
	_, err := p.store.Commit(ctx, []clientv3.Cmp{c.isThere()}, []clientv3.Op{put}, nil)
	return err
}
