package redlock

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

// ReadQueue reads the queue of a lock on one node: the first most waiters in order, and how many there
// are in total. key is the lock's key on the node. Waiters queue on one of a lock's nodes while it
// answers, so ask every node to see all of them, and match them by ID.
//
// The Redis user needs +zrange +zcard +mget on lockscope:queue:* and lockscope:waiter:*.
func ReadQueue(ctx context.Context, node redis.Cmdable, key string, most int) (first []Queued, total int, err error) {
	queue := scripts.QueueKey(key)
	var members *redis.ZSliceCmd
	var card *redis.IntCmd
	_, err = node.Pipelined(ctx, func(p redis.Pipeliner) error {
		members, card = p.ZRangeWithScores(ctx, queue, 0, int64(most)-1), p.ZCard(ctx, queue)
		return nil
	})
	if err != nil || len(members.Val()) == 0 {
		return nil, 0, err
	}
	var entries []string
	for _, m := range members.Val() {
		id, _ := m.Member.(string)
		first = append(first, Queued{ID: id, Since: time.UnixMicro(int64(m.Score))})
		entries = append(entries, scripts.EntryKey(key, id))
	}
	said, err := node.MGet(ctx, entries...).Result()
	if err != nil {
		return nil, 0, err
	}
	for i := range first {
		text, _ := said[i].(string)
		first[i].Says = parseEntry(text, first[i].Since)
	}
	return first, int(card.Val()), nil
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
