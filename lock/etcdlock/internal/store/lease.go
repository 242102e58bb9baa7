package store

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

// Lease is an etcd lease. It serves one claim at a time.
type Lease struct {
	ID      clientv3.LeaseID
	TTL     time.Duration // as granted
	Term    uint64        // of the leader that has granted it; 0 if another one may have
	Seconds int64         // as asked for

	mu    sync.Mutex
	fresh time.Duration // when what prolonged it last was sent; it lives for TTL after
}

func (l *Lease) renewed() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fresh
}

// Renew records that a renewal which was sent then has taken effect.
func (l *Lease) Renew(sent time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fresh = max(l.fresh, sent)
}

// Covers reports whether the lease outlives a lock of this TTL that was requested at began.
func (l *Lease) Covers(ttl, began time.Duration) bool { return l.renewed()+l.TTL >= began+ttl }

// LeaseSeconds is the TTL of a lock's lease, with a second to spare. So an idle lease serves the next
// acquire as it is, and the server never ends a lock before its holder does.
func LeaseSeconds(ttl time.Duration) int64 { return int64(math.Ceil(ttl.Seconds())) + 1 }

// idleLeases keeps the leases of claims that are over. Granting and revoking a lease are proposals, so a
// lease is used again if no late call can put a key under it.
type idleLeases struct {
	mu        sync.Mutex
	bySeconds map[int64][]*Lease
}

func (p *idleLeases) put(l *Lease) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if idle := p.bySeconds[l.Seconds]; len(idle) < maxIdle {
		p.bySeconds[l.Seconds] = append(idle, l)
	}
}

// take returns the lease used last, and drops those that are about to end.
func (p *idleLeases) take(seconds int64, now time.Duration) *Lease {
	p.mu.Lock()
	defer p.mu.Unlock()
	idle := p.bySeconds[seconds]
	if len(idle) == 0 {
		return nil
	}
	l := idle[len(idle)-1]
	if l.renewed()+l.TTL-time.Second/2 <= now {
		delete(p.bySeconds, seconds)
		return nil
	}
	p.bySeconds[seconds] = idle[:len(idle)-1]
	return l
}

// Lease returns a lease that covers a lock of this TTL, or one that was renewed at sent. The caller has to
// verify that the leader of its term renewed it.
func (s *Store) Lease(ctx context.Context, ttl, began time.Duration) (l *Lease, sent time.Duration, err error) {
	for {
		l = s.idle.take(LeaseSeconds(ttl), s.Now())
		if l == nil {
			l, err = s.Grant(ctx, LeaseSeconds(ttl))
			return l, 0, err
		}
		if l.Covers(ttl, began) {
			return l, 0, nil
		}
		sent = s.Now()
		term, err := s.KeepAlive(ctx, l.ID)
		switch {
		case err == nil && term == l.Term:
			return l, sent, nil
		case err != nil && !errors.Is(err, rpctypes.ErrLeaseNotFound):
			return nil, 0, err
		}
	}
}

// Grant requests a new lease. If the answer is lost, the lease expires by itself.
//
// The term in the answer is that of the last entry which the member had applied when it answered. The leader of a term
// before may have granted the lease, and know it, unless an answer before the request was of the same term.
func (s *Store) Grant(ctx context.Context, seconds int64) (*Lease, error) {
	sent := s.Now() // before any try
	_, term := s.History.known()
	resp, err := repeat(ctx, func(ctx context.Context) (*clientv3.LeaseGrantResponse, error) {
		return s.client.Grant(ctx, seconds)
	})
	if err != nil {
		return nil, err
	}
	s.History.noteTerm(resp.RaftTerm)
	if term != resp.RaftTerm {
		term = 0
	}
	return &Lease{ID: resp.ID, Seconds: seconds, TTL: time.Duration(resp.TTL) * time.Second, Term: term, fresh: sent}, nil
}

// KeepAlive renews a lease if the leader answers. That is not certain: a leader that was paused may
// answer before it learns of its successor. It returns the term of the member's last applied entry.
//
// It does not use the client's KeepAliveOnce, which retries endlessly and at once without a connection.
func (s *Store) KeepAlive(ctx context.Context, id clientv3.LeaseID) (term uint64, err error) {
	return repeat(ctx, func(ctx context.Context) (uint64, error) { return s.keepAliveOnce(ctx, id) })
}

func (s *Store) keepAliveOnce(ctx context.Context, id clientv3.LeaseID) (term uint64, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := s.leases.LeaseKeepAlive(ctx)
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

// Reuse keeps a lease for another claim. No late call may be able to put a key under it.
func (s *Store) Reuse(l *Lease) { s.idle.put(l) }

// Revoke ends leases, and with each all keys under it.
func (s *Store) Revoke(ctx context.Context, leases ...*Lease) error {
	for _, l := range leases {
		_, err := repeat(ctx, func(ctx context.Context) (*clientv3.LeaseRevokeResponse, error) {
			return s.client.Revoke(ctx, l.ID)
		})
		if err != nil && !errors.Is(err, rpctypes.ErrLeaseNotFound) {
			return err
		}
	}
	return nil
}

// Left returns how long a lease still lives, in whole seconds, and for how long a renewal prolongs it. ok is false if it
// has ended. Lease 0, that of keys without a lease, never ends: it has a negative time left.
func (s *Store) Left(ctx context.Context, id int64) (left, granted time.Duration, ok bool, err error) {
	if id == 0 {
		return -1, -1, true, nil
	}
	resp, err := repeat(ctx, func(ctx context.Context) (*clientv3.LeaseTimeToLiveResponse, error) {
		return s.client.TimeToLive(ctx, clientv3.LeaseID(id))
	})
	switch {
	case errors.Is(err, rpctypes.ErrLeaseNotFound), err == nil && resp.TTL < 0:
		return 0, 0, false, nil
	case err != nil:
		return 0, 0, false, err
	}
	return time.Duration(resp.TTL) * time.Second, time.Duration(resp.GrantedTTL) * time.Second, true, nil
}
