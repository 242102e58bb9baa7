package etcdlock

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// maxIdle bounds the leases kept for the next acquires of one TTL.
const maxIdle = 64

// lease is an etcd lease. It serves one claim at a time.
type lease struct {
	id      clientv3.LeaseID
	seconds int64         // as asked for
	ttl     time.Duration // as granted
	term    uint64        // of the leader that has granted it; 0 if another one may have

	mu    sync.Mutex
	fresh time.Duration // when what prolonged it last was sent; it lives for ttl after
}

func (l *lease) renewed() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fresh
}

func (l *lease) renew(sent time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fresh = max(l.fresh, sent)
}

// covers reports whether the lease outlives a lock of this TTL that was requested at began.
func (l *lease) covers(ttl, began time.Duration) bool { return l.renewed()+l.ttl >= began+ttl }

// leaseSeconds is the TTL of a lock's lease, with a second to spare. So an idle lease serves the next
// acquire as it is, and the server never ends a lock before its holder does.
func leaseSeconds(ttl time.Duration) int64 { return int64(math.Ceil(ttl.Seconds())) + 1 }

// idleLeases keeps the leases of claims that are over. Granting and revoking a lease are proposals, so a
// lease is used again if no late call can put a key under it.
type idleLeases struct {
	mu        sync.Mutex
	bySeconds map[int64][]*lease
}

func (p *idleLeases) put(l *lease) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if idle := p.bySeconds[l.seconds]; len(idle) < maxIdle {
		p.bySeconds[l.seconds] = append(idle, l)
	}
}

// take returns the lease used last, and drops those that are about to end.
func (p *idleLeases) take(seconds int64, now time.Duration) *lease {
	p.mu.Lock()
	defer p.mu.Unlock()
	idle := p.bySeconds[seconds]
	if len(idle) == 0 {
		return nil
	}
	l := idle[len(idle)-1]
	if l.renewed()+l.ttl-time.Second/2 <= now {
		delete(p.bySeconds, seconds)
		return nil
	}
	p.bySeconds[seconds] = idle[:len(idle)-1]
	return l
}

// lease returns a lease that covers a lock of this TTL, or one that was renewed at sent. The caller has to
// verify that the leader of its term renewed it.
func (n *node) lease(ctx context.Context, ttl, began time.Duration) (l *lease, sent time.Duration, err error) {
	for {
		l = n.idle.take(leaseSeconds(ttl), n.clock())
		if l == nil {
			l, err = n.grant(ctx, leaseSeconds(ttl))
			return l, 0, err
		}
		if l.covers(ttl, began) {
			return l, 0, nil
		}
		sent = n.clock()
		term, err := n.keepAlive(ctx, l.id)
		switch {
		case err == nil && term == l.term:
			return l, sent, nil
		case err != nil && !errors.Is(err, rpctypes.ErrLeaseNotFound):
			return nil, 0, err
		}
	}
}

// grant requests a new lease. If the answer is lost, the lease expires by itself.
//
// The term in the answer is that of the last entry which the member had applied when it answered. The leader of a term
// before may have granted the lease, and know it, unless an answer before the request was of the same term.
func (n *node) grant(ctx context.Context, seconds int64) (*lease, error) {
	sent := n.clock() // before any try
	term := n.knownTerm()
	resp, err := repeat(ctx, func(ctx context.Context) (*clientv3.LeaseGrantResponse, error) {
		return n.client.Grant(ctx, seconds)
	})
	if err != nil {
		return nil, err
	}
	n.noteTerm(resp.RaftTerm)
	if term != resp.RaftTerm {
		term = 0
	}
	return &lease{id: resp.ID, seconds: seconds, ttl: time.Duration(resp.TTL) * time.Second, term: term, fresh: sent}, nil
}

// keepAlive renews a lease if the leader answers. That is not certain: a leader that was paused may
// answer before it learns of its successor. It returns the term of the member's last applied entry.
//
// It does not use the client's KeepAliveOnce, which retries endlessly and at once without a connection.
func (n *node) keepAlive(ctx context.Context, id clientv3.LeaseID) (term uint64, err error) {
	return repeat(ctx, func(ctx context.Context) (uint64, error) { return n.keepAliveOnce(ctx, id) })
}

func (n *node) keepAliveOnce(ctx context.Context, id clientv3.LeaseID) (term uint64, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := n.leases.LeaseKeepAlive(ctx)
	if err != nil {
		return 0, clientv3.ContextError(ctx, err)
	}
	if err := stream.Send(&etcdserverpb.LeaseKeepAliveRequest{ID: int64(id)}); err != nil {
		return 0, clientv3.ContextError(ctx, err)
	}
	resp, err := stream.Recv()
	if err != nil {
		return 0, clientv3.ContextError(ctx, err)
	}
	if resp.GetTTL() <= 0 {
		return 0, rpctypes.ErrLeaseNotFound
	}
	return resp.GetHeader().GetRaftTerm(), nil
}
