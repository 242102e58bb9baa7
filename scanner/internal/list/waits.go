package list

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
	"github.com/lockscope/lockscope/lock/waitgraph"
	"github.com/lockscope/lockscope/scanner/internal/clock"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/listing"
	"github.com/lockscope/lockscope/scanner/report"
)

// secondLook is the time after which a cycle must still be there.
const secondLook = 150 * time.Millisecond

// waitsReader reads the queues of the nodes of a listing, and who holds their locks.
type waitsReader struct {
	*Lister
	pass   *pass
	queues map[string][]waitsNode // by lock key: where it has a queue
	waits  listing.Waits
	failed map[waitsNode]error
	errs   []error
}

// ReadWaits goes through the keys of each master once, after its locks were read.
func (l *Lister) ReadWaits(ctx context.Context) *listing.Waits {
	r := &waitsReader{Lister: l, pass: newPass(l, 0), queues: make(map[string][]waitsNode),
		failed: make(map[waitsNode]error)}
	began := r.cfg.Now()
	r.findQueues(ctx)
	r.look(ctx)
	var watch waitgraph.Watch
	if watch.Deadlocks(r.waits.Graph); watch.Suspects() && clock.Pause(ctx, secondLook) {
		r.look(ctx)
		r.waits.Deadlocks = watch.Deadlocks(r.waits.Graph)
	}
	r.count(ctx)
	r.waits.Err, r.waits.Took = errors.Join(r.errs...), r.cfg.Now().Sub(began)
	return &r.waits
}

// count counts the nodes that were read completely.
func (r *waitsReader) count(ctx context.Context) {
	for _, src := range r.sources {
		r.waits.Of += max(1, len(src.masters))
		for at := range src.masters {
			if ctx.Err() == nil && !src.silent.Load() && r.failed[waitsNode{src, at}] == nil {
				r.waits.Read++
			}
		}
	}
	if ctx.Err() != nil {
		r.errs = append(r.errs, fmt.Errorf("scanner: reading the queues was interrupted: %w", context.Cause(ctx)))
	}
}

// waitsNode is a master of a source.
type waitsNode struct {
	source *listedSource
	at     int
}

// findQueues goes through the keys of all masters, one source after another. There are few queues, and nobody is
// blocked while a listing runs.
func (r *waitsReader) findQueues(ctx context.Context) {
	for _, src := range r.sources {
		for at, m := range src.masters {
			if src.silent.Load() {
				break
			}
			if err := r.scan(ctx, waitsNode{src, at}, m.Master); err != nil {
				r.fail(ctx, waitsNode{src, at}, "find queues", err)
			}
		}
	}
}

func (r *waitsReader) scan(ctx context.Context, n waitsNode, master *redis.Client) error {
	for _, pattern := range r.cfg.Scope.Patterns {
		for cursor, first := uint64(0), true; first || cursor != 0; first = false {
			keys, next, err := master.Scan(ctx, cursor, redlock.QueueKey(pattern), int64(r.cfg.Scope.PageSize)).Result()
			if err != nil {
				return err
			}
			for _, key := range keys {
				r.found(n, key)
			}
			if cursor = next; !clock.Pause(ctx, r.cfg.Scope.Pause) {
				return context.Cause(ctx)
			}
		}
	}
	return nil
}

func (r *waitsReader) found(n waitsNode, queueKey string) {
	key, ok := redlock.LockOfQueue(queueKey)
	switch {
	case !ok || !Wants(&r.options, r.resource(key)) || slices.Contains(r.queues[key], n):
		return
	case len(r.queues[key]) == 0 && len(r.queues) >= listing.MaxWaitedFor:
		r.waits.Omitted = true
		return
	}
	r.queues[key] = append(r.queues[key], n)
}

// fail records once why a node's queues are unknown, unless the listing ends.
func (r *waitsReader) fail(ctx context.Context, n waitsNode, op string, err error) {
	if ctx.Err() == nil && r.failed[n] == nil {
		r.failed[n] = &report.NodeError{Node: n.source.nodes[n.at].Node, Op: op, Err: redisconn.Scrub(err)}
		r.errs = append(r.errs, r.failed[n])
	}
	if !redisconn.IsReply(err) {
		n.source.silent.Store(true)
	}
}

// look reads the queues found, and the holders of their locks.
func (r *waitsReader) look(ctx context.Context) {
	var all []listing.WaitedFor
	var candidates []*candidate
	r.waits.At = r.cfg.Now()
	for key, nodes := range r.queues {
		w := listing.WaitedFor{Key: key, Resource: r.resource(key)}
		for _, n := range nodes {
			if n.source.silent.Load() {
				continue
			}
			queue, total, err := redlock.ReadQueue(ctx, n.source.masters[n.at].Master, key, listing.MaxQueued)
			if err != nil {
				r.fail(ctx, n, "read queue", err)
				continue
			}
			w.At = r.cfg.Now()
			w.Queue, w.Processes = append(w.Queue, queue...), w.Processes+total
		}
		if w.Settle(); w.Processes > 0 {
			all = append(all, w)
			candidates = append(candidates, &candidate{own: keyreader.Value{Key: key}})
		}
	}
	for _, key := range listing.OtherSlots(all, listing.MaxWaitedFor) {
		candidates = append(candidates, &candidate{own: keyreader.Value{Key: key}})
	}
	r.lookAtLocks(ctx, all, candidates)
	r.waits.Graph = listing.Graph(all)
	rank := make(map[string]int)
	for i, c := range r.waits.Graph.Contended(r.cfg.Now()) {
		rank[c.Name] = i
	}
	slices.SortFunc(all, func(a, b listing.WaitedFor) int { return cmp.Compare(rank[a.Resource], rank[b.Resource]) })
	r.waits.Locks = all
}

func (r *waitsReader) lookAtLocks(ctx context.Context, all []listing.WaitedFor, found []*candidate) {
	asked := r.cfg.Now()
	for i := range r.sources {
		for at, look := range r.pass.lookAtSource(ctx, i, found) {
			found[at].looks = append(found[at].looks, look)
		}
	}
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
