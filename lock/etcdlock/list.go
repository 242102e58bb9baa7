package etcdlock

import (
	"context"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/records"
	"github.com/lockscope/lockscope/lock/etcdlock/internal/claims"
	"github.com/lockscope/lockscope/lock/etcdlock/internal/store"
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

// ReadHeldLocks returns the locks below a prefix that are held, ordered by key, including those of a plain
// concurrency.Mutex. A lock that is read has one entry for each reader. ReadHeldLocks changes nothing, and needs the
// right to read the prefix and fenceKey, which is [DefaultFenceKey] or the services' [WithFenceKey].
//
// Everything is of one revision except Remaining, which is read from each lease afterwards. Locks whose
// lease has ended by then are left out. If ctx ends or a majority does not answer, ReadHeldLocks fails
// and returns no list.
func ReadHeldLocks(ctx context.Context, client *clientv3.Client, prefix, fenceKey string) ([]HeldLock, error) {
	queues, err := claims.ReadQueues(ctx, client, prefix)
	if err != nil {
		return nil, failed(err)
	}
	var held []*mvccpb.KeyValue
	var keys []string
	for _, q := range queues {
		for _, kv := range q.Holders() {
			held, keys = append(held, kv), append(keys, q.Key)
		}
	}
	fences, err := claims.ReadFences(ctx, client, fenceKey, held)
	if err != nil {
		return nil, failed(err)
	}
	left, err := claims.ReadLeft(ctx, client, held)
	if err != nil {
		return nil, failed(err)
	}
	var all []HeldLock
	for i, kv := range held {
		rest, there := left[kv.Lease]
		if !there {
			continue
		}
		h := HeldLock{Key: keys[i], Remaining: rest}
		if holder, parseErr := records.ParseHolder(string(kv.Value)); parseErr == nil {
			h.Holder, h.Fence = holder, fences[i]
		}
		all = append(all, h)
	}
	return all, nil
}

// ReadWaiting returns the waiters for the locks below a prefix, ordered by key and by position in the
// queue. It changes nothing, and fails as [ReadHeldLocks] does.
func ReadWaiting(ctx context.Context, client *clientv3.Client, prefix string) ([]Waiting, error) {
	queues, err := claims.ReadQueues(ctx, client, prefix)
	if err != nil {
		return nil, failed(err)
	}
	var all []Waiting
	for _, q := range queues {
		for _, kv := range q.Waiting() {
			w := Waiting{Key: q.Key}
			if holder, parseErr := records.ParseHolder(string(kv.Value)); parseErr == nil {
				w.Holder, w.Since = holder, holder.Since
			}
			all = append(all, w)
		}
	}
	return all, nil
}

func failed(err error) error { return fmt.Errorf("etcdlock: %w", store.Classify(err)) }
