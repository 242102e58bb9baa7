package claims

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/lockscope/lockscope/lock/driver/claimlist"
)

const (
	// readPage is how many keys are read at a time.
	readPage = 1000
	// readBack bounds how many earlier fence bases are read: there is at most one a minute.
	readBack = 1000
)

// Queue is the claims to a lock, the oldest first: at least one.
type Queue struct {
	Key    string
	claims []*mvccpb.KeyValue
}

// Holders are the claims that hold the lock.
func (q *Queue) Holders() []*mvccpb.KeyValue { return q.claims[:claimlist.Holders(q.claims, isReader)] }

// Waiting are the claims behind those that hold the lock.
func (q *Queue) Waiting() []*mvccpb.KeyValue { return q.claims[claimlist.Holders(q.claims, isReader):] }

// ReadQueues reads all claims as they were at one revision.
func ReadQueues(ctx context.Context, client *clientv3.Client, prefix string) ([]*Queue, error) {
	byKey := make(map[string]*Queue)
	from, end, revision := prefix, clientv3.GetPrefixRangeEnd(prefix), int64(0)
	if prefix == "" {
		from, end = "\x00", "\x00"
	}
	for {
		resp, err := client.Get(ctx, from, clientv3.WithRange(end), clientv3.WithLimit(readPage),
			clientv3.WithRev(revision))
		if err != nil {
			return nil, err
		}
		revision = resp.Header.Revision
		for _, kv := range resp.Kvs {
			key, ok := lockOf(prefix, string(kv.Key))
			if !ok {
				continue
			}
			if byKey[key] == nil {
				byKey[key] = &Queue{Key: key}
			}
			byKey[key].claims = append(byKey[key].claims, kv)
		}
		if !resp.More {
			break
		}
		from = string(resp.Kvs[len(resp.Kvs)-1].Key) + "\x00"
	}
	return inOrder(byKey), nil
}

func inOrder(byKey map[string]*Queue) []*Queue {
	all := make([]*Queue, 0, len(byKey))
	for _, q := range byKey {
		slices.SortFunc(q.claims, func(a, b *mvccpb.KeyValue) int { return int(a.CreateRevision - b.CreateRevision) })
		all = append(all, q)
	}
	slices.SortFunc(all, func(a, b *Queue) int { return strings.Compare(a.Key, b.Key) })
	return all
}

// ReadFences returns the fences of claims. It is 0 for a claim of a plain Mutex, and where the base was compacted.
func ReadFences(ctx context.Context, client *clientv3.Client, fenceKey string, claims []*mvccpb.KeyValue) ([]uint64, error) {
	get := func(ctx context.Context, key string, opts ...clientv3.OpOption) ([]*mvccpb.KeyValue, error) {
		resp, err := client.Get(ctx, key, opts...)
		if err != nil {
			return nil, err
		}
		return resp.Kvs, nil
	}
	bases, err := readBases(ctx, get, fenceKey, claims)
	if err != nil {
		return nil, err
	}
	fences := make([]uint64, len(claims))
	for i, kv := range claims {
		fences[i] = fenceAt(bases, kv.CreateRevision)
	}
	return fences, nil
}

type getter func(ctx context.Context, key string, opts ...clientv3.OpOption) ([]*mvccpb.KeyValue, error)

// readBases reads the fence bases, the latest first, back to the one of the oldest claim: a token
// counts from the base of its own transaction. Compacted bases are missing.
func readBases(ctx context.Context, get getter, fenceKey string, claims []*mvccpb.KeyValue) (bases []base, err error) {
	oldest := int64(math.MaxInt64)
	for _, kv := range claims {
		if len(kv.Value) > 0 { // a plain Mutex writes none, and may be held for days
			oldest = min(oldest, kv.CreateRevision)
		}
	}
	for at := int64(0); len(claims) > 0 && len(bases) < readBack; {
		kvs, err := get(ctx, fenceKey, clientv3.WithRev(at))
		switch {
		case errors.Is(err, rpctypes.ErrCompacted):
			return bases, nil
		case err != nil:
			return nil, err
		case len(kvs) == 0:
			return bases, nil
		}
		value, err := strconv.ParseUint(string(kvs[0].Value), 10, 64)
		if err != nil {
			return bases, nil
		}
		bases = append(bases, base{value: value, mod: kvs[0].ModRevision})
		if at = kvs[0].ModRevision - 1; kvs[0].ModRevision <= oldest || at < 1 {
			break
		}
	}
	return bases, nil
}

func fenceAt(bases []base, made int64) uint64 {
	for _, b := range bases {
		if b.mod <= made {
			return b.value + uint64(made)
		}
	}
	return 0
}

// ReadLeft returns how long the claims' leases still live. Ended leases are missing. Lease 0, that of keys without a lease,
// never ends.
func ReadLeft(ctx context.Context, client *clientv3.Client, claims []*mvccpb.KeyValue) (map[int64]time.Duration, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	left := map[int64]time.Duration{0: -1}
	var ids []int64
	for _, kv := range claims {
		ids = append(ids, kv.Lease)
	}
	slices.Sort(ids)
	ids = slices.DeleteFunc(slices.Compact(ids), func(id int64) bool { return id == 0 })
	var mu sync.Mutex
	err := claimlist.Parallel(len(ids), func(i int) error {
		resp, err := client.TimeToLive(ctx, clientv3.LeaseID(ids[i]))
		switch {
		case errors.Is(err, rpctypes.ErrLeaseNotFound):
			return nil
		case err != nil:
			cancel(err)
			return err
		case resp.TTL >= 0:
			mu.Lock()
			defer mu.Unlock()
			left[ids[i]] = time.Duration(resp.TTL) * time.Second
		}
		return nil
	})
	if err != nil {
		return nil, context.Cause(ctx) // the first one
	}
	return left, nil
}
