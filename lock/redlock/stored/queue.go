package stored

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/engine/records"
	"github.com/lockscope/lockscope/lock/redlock/internal/scripts"
)

// QueueKey returns the key of a lock's queue of waiters. For a pattern of lock keys, it returns a
// pattern of their queues.
func QueueKey(lockKey string) string { return scripts.QueueKey(lockKey) }

// LockOfQueue returns the key of the lock whose queue has this key; ok is false for any other key.
func LockOfQueue(key string) (lockKey string, ok bool) { return scripts.LockOfQueue(key) }

// Queued is a process in the queue of a lock.
type Queued struct {
	ID    string    // of its engine
	Since time.Time // when it joined the queue, on the node's clock
	// Says is the process's record. It is nil if there is none, or while the process has
	// waited for less than 100 ms.
	Says *records.Waiting
}

// ReadQueues reads the queues of locks on one node: of each the first most waiters in order, and how many there are in
// total. keys are the locks' keys on the node. It takes two round trips. Waiters queue on one of a lock's nodes while it
// answers, so ask every node to see all of them, and match them by ID.
//
// The Redis user needs +zrange +zcard +mget on lockscope:queue:* and lockscope:waiter:*.
func ReadQueues(ctx context.Context, node redis.Cmdable, keys []string, most int) (first [][]Queued, total []int,
	err error) {
	members, cards := make([]*redis.ZSliceCmd, len(keys)), make([]*redis.IntCmd, len(keys))
	_, err = node.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, key := range keys {
			queue := scripts.QueueKey(key)
			members[i], cards[i] = p.ZRangeWithScores(ctx, queue, 0, int64(most)-1), p.ZCard(ctx, queue)
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	first, total = make([][]Queued, len(keys)), make([]int, len(keys))
	said := make([]*redis.SliceCmd, len(keys))
	_, err = node.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, key := range keys {
			var entries []string
			for _, m := range members[i].Val() {
				id, _ := m.Member.(string)
				first[i] = append(first[i], Queued{ID: id, Since: time.UnixMicro(int64(m.Score))})
				entries = append(entries, scripts.EntryKey(key, id))
			}
			if len(entries) > 0 {
				total[i], said[i] = int(cards[i].Val()), p.MGet(ctx, entries...)
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	for i := range first {
		for k := range first[i] {
			text, _ := said[i].Val()[k].(string)
			first[i][k].Says = parseEntry(text, first[i][k].Since)
		}
	}
	return first, total, nil
}

// parseEntry parses a waiter's record; nil if it is from an earlier stay in the queue.
func parseEntry(text string, since time.Time) *records.Waiting {
	ticket, record, _ := strings.Cut(text, "\n")
	if ticket != strconv.FormatInt(since.UnixMicro(), 10) {
		return nil
	}
	w, err := records.ParseWaiting(record)
	if err != nil {
		return nil
	}
	return &w
}
