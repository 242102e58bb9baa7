// Package store is an etcd cluster as the protocol of package claims needs it: transactions that are tried on several
// members, etcd leases that are used again, deletions as they happen, and errors with their class and remedy.
package store

import (
	"context"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"

	"github.com/lockscope/lockscope/lock/driver/claimlist"
)

// RetryPause is the pause between tries in the background.
const RetryPause = 100 * time.Millisecond

// Store is a cluster, as the client of a caller reaches it.
type Store struct {
	Now        func() time.Duration // the clock that validity is counted by
	Timeout    time.Duration        // of a call in the background
	History    History
	Background *claimlist.Background

	client *clientv3.Client
	leases etcdserverpb.LeaseClient
	idle   idleLeases

	mu    sync.Mutex
	woken time.Time // when the client's back-off was last reset
}

// New returns the cluster of a client, which stays the caller's. timeout is that of a call in the background.
func New(client *clientv3.Client, now func() time.Duration, timeout time.Duration) *Store {
	return &Store{
		Now: now, Background: claimlist.NewBackground(), client: client, leases: clientv3.RetryLeaseClient(client),
		Timeout: timeout, idle: idleLeases{bySeconds: make(map[int64][]*Lease)},
	}
}

// Get reads keys, through a majority.
func (s *Store) Get(ctx context.Context, key string, opts ...clientv3.OpOption) ([]*mvccpb.KeyValue, error) {
	resp, err := repeat(ctx, func(ctx context.Context) (*clientv3.GetResponse, error) {
		return s.client.Get(ctx, key, opts...)
	})
	if err != nil {
		return nil, err
	}
	return resp.Kvs, nil
}

// Answer is the answer to a transaction.
type Answer struct {
	*clientv3.TxnResponse
	Again   bool // an earlier try may have taken effect
	Rewound bool // it is of an earlier revision than one that was known: see History
}

// Keys returns what the transaction's operation at that index has read.
func (a *Answer) Keys(op int) []*mvccpb.KeyValue { return a.Responses[op].GetResponseRange().Kvs }

// Commit runs a transaction, on several members if need be.
func (s *Store) Commit(ctx context.Context, cmps []clientv3.Cmp, then, otherwise []clientv3.Op) (*Answer, error) {
	known, _ := s.History.known()
	resp, again, err := repeated(ctx, func(ctx context.Context) (*clientv3.TxnResponse, error) {
		return s.client.Txn(ctx).If(cmps...).Then(then...).Else(otherwise...).Commit()
	})
	if err != nil {
		return nil, err
	}
	return &Answer{TxnResponse: resp, Again: again, Rewound: s.History.note(resp.Header, known)}, nil
}

// Deletions reports the deletions of keys below a prefix until the watch ends: with ctx, at a compacted revision, or if its
// member loses the leader. The client repairs broken connections. opened comes first, with the revision from which on every
// deletion is reported.
func (s *Store) Deletions(
	ctx context.Context, prefix string, opened func(at int64), deleted func([]*clientv3.Event),
) {
	ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
	defer cancel()
	events := s.client.Watch(ctx, prefix, clientv3.WithPrefix(), clientv3.WithFilterPut(), clientv3.WithCreatedNotify())
	for resp := range events {
		switch {
		case resp.Err() != nil:
			return
		case resp.Created:
			opened(resp.Header.Revision)
		default:
			deleted(resp.Events)
		}
	}
}

// Brief returns the context of one call in the background.
func (s *Store) Brief() (context.Context, context.CancelFunc) {
	return context.WithTimeout(s.Background.Life, s.Timeout)
}

// Go makes a call in the background.
func (s *Store) Go(call func(context.Context)) {
	s.Background.Run(func() {
		ctx, cancel := s.Brief()
		defer cancel()
		call(ctx)
	})
}

// maxTries is how many members get a call that may be repeated.
const maxTries = 3

// repeat runs an idempotent call. The client sends each try to another member, so one member that hangs does
// not use up all the time.
func repeat[T any](ctx context.Context, do func(context.Context) (T, error)) (T, error) {
	answer, _, err := repeated(ctx, do)
	return answer, err
}

// repeated is like repeat. again means that an earlier try may have taken effect, or still may.
func repeated[T any](ctx context.Context, do func(context.Context) (T, error)) (answer T, again bool, err error) {
	for left := maxTries; ; left-- {
		try, cancel := portion(ctx, left)
		answer, err = do(try)
		cancel()
		if err == nil || left == 1 || ctx.Err() != nil || !silent(err) {
			return answer, again, err
		}
		again = true
	}
}

// portion gives each try its part of the remaining time. The last try ends slightly early, so that the cause
// is reported before the call counts as unanswered.
func portion(ctx context.Context, tries int) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	left := time.Until(deadline)
	if tries == 1 {
		return context.WithTimeout(ctx, left-left/8)
	}
	return context.WithTimeout(ctx, left/time.Duration(tries))
}

func silent(err error) bool {
	if is(err, context.DeadlineExceeded) {
		return true
	}
	code := codeOf(err)
	return code == codes.DeadlineExceeded || code == codes.Unavailable
}
