package etcdlock

import (
	"context"
	"fmt"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/engine/records"
	"github.com/lockscope/lockscope/lock/etcdlock/internal/claims"
	"github.com/lockscope/lockscope/lock/etcdlock/internal/store"
)

// ReadHeldLocks returns the locks below a prefix that are held, ordered by key, including those of a plain
// concurrency.Mutex, which have no Holder. ReadHeldLocks changes nothing, and needs the
// right to read the prefix and fenceKey, which is [DefaultFenceKey] or the services' [WithFenceKey].
//
// Everything is of one revision except Remaining, which is read from each lease afterwards, in whole seconds. Locks whose
// lease has ended by then are left out. The Fence is unknown if the history of fenceKey was compacted since the grant. If ctx ends or a majority does not answer, ReadHeldLocks fails
// and returns no list.
func ReadHeldLocks(ctx context.Context, client *clientv3.Client, prefix, fenceKey string) ([]inspect.HeldLock, error) {
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
	var all []inspect.HeldLock
	for i, kv := range held {
		rest, there := left[kv.Lease]
		if !there {
			continue
		}
		h := inspect.HeldLock{Key: keys[i], Type: "key", Remaining: inspect.Left(rest)}
		if holder, parseErr := records.ParseHolder(string(kv.Value)); parseErr == nil {
			h.Holder, h.Fence = holder, fences[i]
		}
		all = append(all, h)
	}
	return all, nil
}

// ReadWaiting returns the waiters for the locks below a prefix, ordered by key and by position in the
// queue. It changes nothing, and fails as [ReadHeldLocks] does. Their times are by the clocks of the waiters; a plain
// Mutex tells none. etcd has neither how many calls of a process wait, nor which locks they hold.
func ReadWaiting(ctx context.Context, client *clientv3.Client, prefix string) ([]inspect.Waiting, error) {
	queues, err := claims.ReadQueues(ctx, client, prefix)
	if err != nil {
		return nil, failed(err)
	}
	var all []inspect.Waiting
	for _, q := range queues {
		for _, kv := range q.Waiting() {
			w := inspect.Waiting{Key: q.Key, Says: inspect.Process(string(kv.Value))}
			if w.Says != nil {
				w.Since = w.Says.Since
			}
			all = append(all, w)
		}
	}
	return all, nil
}

func failed(err error) error { return fmt.Errorf("etcdlock: %w", store.Classify(err)) }
