package top

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/fleet"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/top/screen"
	"github.com/lockscope/lockscope/lock/engine/records"
	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/scanner/listing"
)

// The limits of what is known of queues.
const (
	MaxQueues  = 500 // locks of one set whose queues are measured in each refresh
	MaxShown   = 100 // locks of one set whose waiters and holder are read: those that are waited for the most
	keptEmpty  = time.Minute
	atOnce     = 8 // queues that are read at one time
	maxSuggest = 200
)

// queues are the locks that have, or just had, a queue. They are found once and measured in each refresh.
type queues struct {
	seen    map[string]time.Time // lock key: when it last had a queue
	omitted bool                 // there were more than MaxQueues
}

func (q *queues) add(key string, now time.Time) {
	if _, known := q.seen[key]; !known && len(q.seen) >= MaxQueues {
		q.omitted = true
		return
	}
	q.seen[key] = now
}

// forget drops those that have been empty for a while.
func (q *queues) forget(now time.Time) {
	for key, at := range q.seen {
		if now.Sub(at) > keptEmpty {
			delete(q.seen, key)
			q.omitted = false // unless the search finds one more
		}
	}
}

// asker is where queues and locks are asked for: one node of a Redlock, or a cluster, which routes by key.
type asker struct {
	cmd  redis.Cmdable
	node *node // nil for a cluster
}

// length is how much waits in a queue, over all nodes.
type length struct {
	key       string
	processes int64
	first     time.Time
	on        []int // askers that have it
}

// measure asks for the length and the head of each queue, in one round trip a node.
func (s *redisSet) measure(ctx context.Context, ask []asker) (all []length) {
	keys := make([]string, 0, len(s.queues.seen))
	for key := range s.queues.seen {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	all = make([]length, len(keys))
	for i, key := range keys {
		all[i].key = key
	}
	if len(keys) == 0 {
		return nil
	}
	cards, heads := make([][]*redis.IntCmd, len(ask)), make([][]*redis.ZSliceCmd, len(ask))
	s.each(ctx, ask, "measure queues", func(ctx context.Context, i int) error {
		_, err := ask[i].cmd.Pipelined(ctx, func(p redis.Pipeliner) error {
			for _, key := range keys {
				queue := redlock.QueueKey(key)
				cards[i] = append(cards[i], p.ZCard(ctx, queue))
				heads[i] = append(heads[i], p.ZRangeWithScores(ctx, queue, 0, 0))
			}
			return nil
		})
		return err
	})
	for i := range ask {
		for k, card := range cards[i] {
			if n := card.Val(); n > 0 {
				all[k].add(i, n, heads[i][k].Val())
			}
		}
	}
	return slices.DeleteFunc(all, func(l length) bool { return l.processes == 0 })
}

func (l *length) add(at int, processes int64, head []redis.Z) {
	l.processes += processes
	l.on = append(l.on, at)
	if len(head) > 0 {
		if since := time.UnixMicro(int64(head[0].Score)); l.first.IsZero() || since.Before(l.first) {
			l.first = since
		}
	}
}

// most sorts the queues by processes times the longest wait.
func most(all []length, now time.Time) []length {
	weight := func(l length) float64 { return float64(l.processes) * max(0, now.Sub(l.first)).Seconds() }
	slices.SortFunc(all, func(a, b length) int {
		return cmp.Or(cmp.Compare(weight(b), weight(a)), strings.Compare(a.key, b.key))
	})
	return all[:min(len(all), MaxShown)]
}

// readQueues reads the first processes of each queue.
func (s *redisSet) readQueues(ctx context.Context, ask []asker, all []length) []listing.WaitedFor {
	found := make([]listing.WaitedFor, len(all))
	for k := range all {
		found[k] = listing.WaitedFor{Key: all[k].key, Resource: s.resource(all[k].key)}
	}
	var mu sync.Mutex
	s.each(ctx, ask, "read queue", func(ctx context.Context, i int) error {
		slots := make(chan struct{}, atOnce)
		var reading sync.WaitGroup
		var failed error
		for k := range all {
			if !slices.Contains(all[k].on, i) {
				continue
			}
			slots <- struct{}{}
			reading.Go(func() {
				defer func() { <-slots }()
				queue, total, err := redlock.ReadQueue(ctx, ask[i].cmd, all[k].key, listing.MaxQueued)
				mu.Lock()
				defer mu.Unlock()
				w := &found[k]
				w.Queue, w.Processes, w.At = append(w.Queue, queue...), w.Processes+total, time.Now()
				failed = cmp.Or(failed, err)
			})
		}
		reading.Wait()
		return failed
	})
	for k := range found {
		found[k].Settle()
	}
	return slices.DeleteFunc(found, func(w listing.WaitedFor) bool { return w.Processes == 0 })
}

// waiterOf is a process in a queue; says is nil until it has waited for a tenth of a second.
func waiterOf(says *records.Waiting, waited time.Duration) screen.Waiter {
	w := screen.Waiter{Callers: 1, Waited: waited}
	if says == nil {
		return w
	}
	w.Instance, w.CallSite, w.Page, w.TraceID = says.Instance, says.CallSite, says.Page, fleet.TraceID(says.Traceparent)
	w.Callers, w.Backend = max(1, says.Callers), says.Backend
	for _, h := range says.Holds {
		name := h.Resource
		if h.Backend != "" {
			name += " (" + h.Backend + ")"
		}
		w.Holds = append(w.Holds, name)
	}
	return w
}
