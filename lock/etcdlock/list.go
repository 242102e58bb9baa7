package etcdlock

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/records"
)

// HeldLock is a lock that is held.
type HeldLock struct {
	Key       string        // prefix and resource
	Fence     uint64        // 0 if unknown: a plain Mutex, or the token's base was compacted
	Holder    lock.Holder   // empty for a plain Mutex
	Remaining time.Duration // until the key expires, unless renewed, in whole seconds; negative: never
}

// Waiting is a claim behind the one that holds a lock. It names the waiting process, but not how many
// of its calls wait, nor which locks they hold.
type Waiting struct {
	Key    string
	Since  time.Time   // on the waiter's clock; zero for a plain Mutex
	Holder lock.Holder // the waiting process; empty for a plain Mutex
}

const (
	// readPage is how many keys are read at a time.
	readPage = 1000
	// readParallel bounds the concurrent requests for the TTL of a lease.
	readParallel = 8
	// readBack bounds how many earlier fence bases are read: there is at most one a minute.
	readBack = 1000
)

// ReadHeldLocks returns the locks below a prefix that are held, ordered by key, including those of a plain
// concurrency.Mutex. A lock that is read has one entry for each reader. ReadHeldLocks changes nothing, and needs the
// right to read the prefix and fenceKey, which is [DefaultFenceKey] or the services' [WithFenceKey].
//
// Everything is of one revision except Remaining, which is read from each lease afterwards. Locks whose
// lease has ended by then are left out. If ctx ends or a majority does not answer, ReadHeldLocks fails
// and returns no list.
func ReadHeldLocks(ctx context.Context, client *clientv3.Client, prefix, fenceKey string) ([]HeldLock, error) {
	queues, err := readQueues(ctx, client, prefix)
	if err != nil {
		return nil, err
	}
	var held []*mvccpb.KeyValue
	var keys []string
	for _, q := range queues {
		for _, kv := range q.claims[:q.held()] {
			held, keys = append(held, kv), append(keys, q.key)
		}
	}
	bases, err := readBases(ctx, client, fenceKey, held)
	if err != nil {
		return nil, err
	}
	left, err := readLeases(ctx, client, held)
	if err != nil {
		return nil, err
	}
	var all []HeldLock
	for i, kv := range held {
		rest, there := left[clientv3.LeaseID(kv.Lease)]
		if !there {
			continue
		}
		h := HeldLock{Key: keys[i], Remaining: rest}
		if said, parseErr := records.ParseHolder(string(kv.Value)); parseErr == nil {
			h.Holder, h.Fence = said, fenceAt(bases, kv.CreateRevision)
		}
		all = append(all, h)
	}
	return all, nil
}

// ReadWaiting returns the waiters for the locks below a prefix, ordered by key and by position in the
// queue. It changes nothing, and fails as [ReadHeldLocks] does.
func ReadWaiting(ctx context.Context, client *clientv3.Client, prefix string) ([]Waiting, error) {
	queues, err := readQueues(ctx, client, prefix)
	if err != nil {
		return nil, err
	}
	var all []Waiting
	for _, q := range queues {
		for _, kv := range q.claims[q.held():] {
			w := Waiting{Key: q.key}
			if said, parseErr := records.ParseHolder(string(kv.Value)); parseErr == nil {
				w.Holder, w.Since = said, said.Since
			}
			all = append(all, w)
		}
	}
	return all, nil
}

// queue is the claims to a lock, the oldest first: at least one.
type queue struct {
	key    string
	claims []*mvccpb.KeyValue
}

// held is how many of the claims hold the lock: one, or all readers that are older than every other claim.
func (q *queue) held() int {
	n := 0
	for n < len(q.claims) && isReader(q.claims[n]) {
		n++
	}
	return max(n, 1)
}

func isReader(kv *mvccpb.KeyValue) bool {
	_, last, _ := cutLast(string(kv.Key), "/")
	return strings.HasPrefix(last, readerMark)
}

// readQueues reads all claims as they were at one revision.
func readQueues(ctx context.Context, client *clientv3.Client, prefix string) ([]queue, error) {
	byKey := make(map[string]*queue)
	from, end, revision := prefix, clientv3.GetPrefixRangeEnd(prefix), int64(0)
	if prefix == "" {
		from, end = "\x00", "\x00"
	}
	for {
		resp, err := client.Get(ctx, from, clientv3.WithRange(end), clientv3.WithLimit(readPage),
			clientv3.WithRev(revision))
		if err != nil {
			return nil, fmt.Errorf("etcdlock: %w", classify(err))
		}
		revision = resp.Header.Revision
		for _, kv := range resp.Kvs {
			key, ok := lockOf(prefix, string(kv.Key))
			if !ok {
				continue
			}
			if byKey[key] == nil {
				byKey[key] = &queue{key: key}
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

func inOrder(byKey map[string]*queue) []queue {
	all := make([]queue, 0, len(byKey))
	for _, q := range byKey {
		slices.SortFunc(q.claims, func(a, b *mvccpb.KeyValue) int { return int(a.CreateRevision - b.CreateRevision) })
		all = append(all, *q)
	}
	slices.SortFunc(all, func(a, b queue) int { return strings.Compare(a.key, b.key) })
	return all
}

// lockOf returns the key of the lock that a claim is for: the inverse of directory and keyOf. ok is
// false for a key that is not a claim.
func lockOf(prefix, claim string) (key string, ok bool) {
	directory, lease, found := cutLast(strings.TrimPrefix(claim, prefix), "/")
	if _, err := strconv.ParseUint(strings.TrimPrefix(lease, readerMark), 16, 64); !found || err != nil {
		return "", false
	}
	return prefix + strings.ReplaceAll(strings.ReplaceAll(directory, "%2F", "/"), "%25", "%"), true
}

func cutLast(s, sep string) (before, after string, found bool) {
	at := strings.LastIndex(s, sep)
	if at < 0 {
		return s, "", false
	}
	return s[:at], s[at+len(sep):], true
}

// readBases reads the fence bases, the latest first, back to the one of the oldest claim: a token
// counts from the base of its own transaction. Compacted bases are missing.
func readBases(ctx context.Context, client *clientv3.Client, fenceKey string, claims []*mvccpb.KeyValue) (bases []base,
	err error) {
	oldest := int64(math.MaxInt64)
	for _, kv := range claims {
		if len(kv.Value) > 0 { // a plain Mutex writes none, and may be held for days
			oldest = min(oldest, kv.CreateRevision)
		}
	}
	for at := int64(0); len(claims) > 0 && len(bases) < readBack; {
		resp, err := client.Get(ctx, fenceKey, clientv3.WithRev(at))
		switch {
		case errors.Is(err, rpctypes.ErrCompacted):
			return bases, nil
		case err != nil:
			return nil, fmt.Errorf("etcdlock: %w", classify(err))
		case len(resp.Kvs) == 0:
			return bases, nil
		}
		kv := resp.Kvs[0]
		value, err := strconv.ParseUint(string(kv.Value), 10, 64)
		if err != nil {
			return bases, nil
		}
		bases = append(bases, base{value: value, mod: kv.ModRevision})
		if at = kv.ModRevision - 1; kv.ModRevision <= oldest || at < 1 {
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

// readLeases returns how long the claims' leases still live. Ended leases are missing. Lease 0, that
// of keys without a lease, never ends.
func readLeases(ctx context.Context, client *clientv3.Client,
	claims []*mvccpb.KeyValue) (map[clientv3.LeaseID]time.Duration, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	left := map[clientv3.LeaseID]time.Duration{0: -1}
	asked := map[clientv3.LeaseID]bool{0: true}
	slots := make(chan struct{}, readParallel)
	var mu sync.Mutex
	var asking sync.WaitGroup
	for _, kv := range claims {
		id := clientv3.LeaseID(kv.Lease)
		if asked[id] {
			continue
		}
		asked[id] = true
		slots <- struct{}{}
		asking.Go(func() {
			defer func() { <-slots }()
			resp, err := client.TimeToLive(ctx, id)
			switch {
			case errors.Is(err, rpctypes.ErrLeaseNotFound):
			case err != nil:
				cancel(err)
			case resp.TTL >= 0:
				mu.Lock()
				defer mu.Unlock()
				left[id] = time.Duration(resp.TTL) * time.Second
			}
		})
	}
	asking.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, fmt.Errorf("etcdlock: %w", classify(err))
	}
	return left, nil
}
