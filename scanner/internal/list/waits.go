package list

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/redlock/redisconn"
	"github.com/lockscope/lockscope/lock/redlock/stored"
	"github.com/lockscope/lockscope/scanner/internal/clock"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/node"
	"github.com/lockscope/lockscope/scanner/listing"
	"github.com/lockscope/lockscope/scanner/report"
)

// secondLook is the time after which a cycle must still be there.
const secondLook = 150 * time.Millisecond

// waitsReader reads the queues of the nodes of a listing, and who holds their locks.
type waitsReader struct {
	*Lister
	*Watch
	pass  *pass
	nodes []waitsNode
	waits listing.Waits

	mu     sync.Mutex
	failed map[waitsNode]error
	silent map[waitsNode]bool
	errs   []error
}

// waitsNode is a master of a source.
type waitsNode struct {
	source *listedSource
	at     int
}

func (n waitsNode) name() string { return n.source.nodes[n.at].Node }

func (n waitsNode) master() *redis.Client { return n.source.masters[n.at].Master }

// ReadWaits searches the keys of each master for queues, as far as the Watch's limits allow, and reads those that it
// knows. Sources that have failed before are not asked.
func (l *Lister) ReadWaits(ctx context.Context, w *Watch) *listing.Waits {
	r := &waitsReader{Lister: l, Watch: w, pass: newPass(l, -1), failed: make(map[waitsNode]error),
		silent: make(map[waitsNode]bool)}
	r.pass.timeout = w.limits.Timeout
	for _, src := range l.sources {
		for at := range src.masters {
			r.nodes = append(r.nodes, waitsNode{src, at})
			r.silent[waitsNode{src, at}] = src.silent.Load()
		}
	}
	began := r.cfg.Now()
	r.eachNode(ctx, "find queues", r.find)
	r.look(ctx)
	r.waits.Deadlocks = r.cycles.Deadlocks(r.waits.Graph)
	if r.cycles.Suspects() && len(r.waits.Deadlocks) == 0 && clock.Pause(ctx, secondLook) {
		r.look(ctx)
		r.waits.Deadlocks = r.cycles.Deadlocks(r.waits.Graph)
	}
	r.count(ctx)
	r.waits.Omitted = r.omitted
	r.waits.Err, r.waits.Took = errors.Join(r.errs...), r.cfg.Now().Sub(began)
	return &r.waits
}

// count counts the nodes that were read completely, and says how far the search is.
func (r *waitsReader) count(ctx context.Context) {
	for i, src := range r.sources {
		r.waits.Of += max(1, len(src.masters))
		for at := range src.masters {
			n := waitsNode{src, at}
			if ctx.Err() == nil && !src.silent.Load() && r.failed[n] == nil {
				r.waits.Read++
			}
			r.waits.Searched = append(r.waits.Searched, r.searchOf(n.name()).Search)
			r.able[n.name()] = r.pass.peers[i][at].Capability()
		}
	}
	if ctx.Err() != nil {
		r.errs = append(r.errs, fmt.Errorf("scanner: reading the queues was interrupted: %w", context.Cause(ctx)))
	}
}

// eachNode asks the masters that answer, some at a time. Each has the time of one step.
func (r *waitsReader) eachNode(ctx context.Context, op string, ask func(ctx context.Context, i int) error) {
	node.Each(len(r.nodes), node.AtOnce, func(i int) {
		n := r.nodes[i]
		r.mu.Lock()
		silent := r.silent[n]
		r.mu.Unlock()
		if silent {
			return
		}
		within, cancel := stepOf(ctx, r.limits.Timeout)
		defer cancel()
		if err := ask(within, i); err != nil {
			r.fail(ctx, n, op, err)
		}
	})
}

// stepOf bounds a step; timeout 0 does not.
func stepOf(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if timeout == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, timeout)
}

// fail records once why a node's queues are unknown, unless the listing ends.
func (r *waitsReader) fail(ctx context.Context, n waitsNode, op string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ctx.Err() == nil && r.failed[n] == nil {
		r.failed[n] = &report.NodeError{Node: n.name(), Op: op, Err: redisconn.Scrub(err)}
		r.errs = append(r.errs, r.failed[n])
	}
	if !redisconn.IsReply(err) {
		r.silent[n] = true
		n.source.silent.Store(true)
	}
}

// find goes on with the search of a node. It ends at most one pass, and pauses between pages if the pass is not cut up.
func (r *waitsReader) find(ctx context.Context, i int) error {
	s, start, patterns := r.searchOf(r.nodes[i].name()), r.cfg.Now(), r.cfg.Scope.Patterns
	if s.Began.IsZero() {
		s.Began, s.Keys, s.pattern, s.cursor = start, 0, 0, 0
	}
	for page := 1; ; page++ {
		keys, next, err := r.nodes[i].master().Scan(ctx, s.cursor, stored.QueueKey(patterns[s.pattern]),
			int64(r.cfg.Scope.PageSize)).Result()
		if err != nil {
			return err
		}
		for _, key := range keys {
			if lock, ok := stored.LockOfQueue(key); ok && r.options.Wants(r.resource(lock)) {
				r.Add(lock, start)
			}
		}
		s.Keys += int64(r.cfg.Scope.PageSize / len(patterns))
		if s.cursor = next; next == 0 {
			s.pattern++
		}
		switch {
		case s.pattern == len(patterns):
			s.Ended = r.cfg.Now()
			s.Took, s.Began = s.Ended.Sub(s.Began), time.Time{}
			return nil
		case r.limits.Pages > 0 && (page == r.limits.Pages || r.cfg.Now().Sub(start) > r.limits.Search):
			return nil
		case r.limits.Pages == 0 && !clock.Pause(ctx, r.cfg.Scope.Pause):
			return context.Cause(ctx)
		}
	}
}

// look reads the longest of the queues that are known, and the holders of their locks.
func (r *waitsReader) look(ctx context.Context) {
	r.waits.At = r.cfg.Now()
	shown := r.measure(ctx)
	r.forget(shown, r.waits.At)
	slices.SortFunc(shown, func(a, b length) int {
		return cmp.Or(cmp.Compare(b.weight(r.waits.At), a.weight(r.waits.At)), strings.Compare(a.key, b.key))
	})
	kept := min(len(shown), r.limits.Shown)
	r.waits.More = len(shown) - kept
	all := r.readQueues(ctx, shown[:kept])
	r.lookAtLocks(ctx, all)
	r.waits.Graph = listing.Graph(all)
	rank := make(map[string]int)
	for i, c := range r.waits.Graph.Contended(r.cfg.Now()) {
		rank[c.Name] = i
	}
	slices.SortFunc(all, func(a, b listing.WaitedFor) int { return cmp.Compare(rank[a.Resource], rank[b.Resource]) })
	r.waits.Locks = all
}

// measured is how many queues are measured in one round trip.
const measured = 500

// measure asks for the length and the head of each queue.
func (r *waitsReader) measure(ctx context.Context) []length {
	keys := r.keys()
	all := make([]length, len(keys))
	for i, key := range keys {
		all[i].key = key
	}
	r.eachNode(ctx, "measure queues", func(ctx context.Context, i int) error {
		for some := range slices.Chunk(all, measured) {
			cards, heads := make([]*redis.IntCmd, len(some)), make([]*redis.ZSliceCmd, len(some))
			pipe := r.nodes[i].master().Pipeline()
			for k := range some {
				queue := stored.QueueKey(some[k].key)
				cards[k], heads[k] = pipe.ZCard(ctx, queue), pipe.ZRangeWithScores(ctx, queue, 0, 0)
			}
			if err := keyreader.Execute(ctx, pipe); err != nil {
				return err
			}
			r.mu.Lock()
			for k := range some {
				if n := cards[k].Val(); n > 0 {
					some[k].add(i, n, heads[k].Val())
				}
			}
			r.mu.Unlock()
		}
		return nil
	})
	return slices.DeleteFunc(all, func(l length) bool { return l.processes == 0 })
}

// readQueues reads the first processes of each queue, on the nodes that have it.
func (r *waitsReader) readQueues(ctx context.Context, shown []length) []listing.WaitedFor {
	all := make([]listing.WaitedFor, len(shown))
	for k := range shown {
		all[k] = listing.WaitedFor{Key: shown[k].key, Resource: r.resource(shown[k].key)}
	}
	r.eachNode(ctx, "read queue", func(ctx context.Context, i int) error {
		var here []int
		for k := range shown {
			if slices.Contains(shown[k].on, i) {
				here = append(here, k)
			}
		}
		for some := range slices.Chunk(here, keyreader.Batch) {
			keys := make([]string, len(some))
			for at, k := range some {
				keys[at] = shown[k].key
			}
			queues, totals, err := stored.ReadQueues(ctx, r.nodes[i].master(), keys, listing.MaxQueued)
			if err != nil {
				return err
			}
			r.mu.Lock()
			for at, k := range some {
				w := &all[k]
				w.Queue, w.Processes, w.At = append(w.Queue, queues[at]...), w.Processes+totals[at], r.cfg.Now()
			}
			r.mu.Unlock()
		}
		return nil
	})
	for k := range all {
		all[k].Settle()
	}
	return slices.DeleteFunc(all, func(w listing.WaitedFor) bool { return w.Processes == 0 })
}

// lookAtLocks reads who holds the locks, and the other slots of semaphores.
func (r *waitsReader) lookAtLocks(ctx context.Context, all []listing.WaitedFor) {
	var found []*candidate
	for i := range all {
		found = append(found, &candidate{own: keyreader.Value{Key: all[i].Key}})
	}
	for _, key := range listing.OtherSlots(all, r.limits.Slots) {
		found = append(found, &candidate{own: keyreader.Value{Key: key}})
	}
	asked := r.cfg.Now()
	r.pass.lookAround(ctx, found)
	locks := make(map[string]*listing.Lock, len(found))
	for _, c := range found {
		locks[c.own.Key] = nil
		if l, ok := newLock(c.looks, len(r.sources)-len(c.looks)); ok {
			l.Resource, l.At = r.resource(c.own.Key), asked
			locks[c.own.Key] = &l
		}
	}
	for i := range all {
		all[i].Lock = locks[all[i].Key]
	}
	listing.ReadSlots(all, func(key string) (*listing.Lock, bool) { l, asked := locks[key]; return l, asked })
}
