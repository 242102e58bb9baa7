package scanner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/records"
	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
	"github.com/lockscope/lockscope/lock/waitgraph"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
)

// Waits is who waits for whom, as the queues of lockscope's locks tell: other libraries
// have none.
type Waits struct {
	// Locks that somebody waits for: first those for which most has been waited.
	Locks []WaitedFor
	// Graph has the same, by resource. A process whose queue entry says nothing yet,
	// for it has waited for less than a tenth of a second, has no Instance there.
	Graph *waitgraph.Graph
	// Deadlocks are cycles over processes, or inside one, that two looks have found.
	Deadlocks []lock.Deadlock
	// Err joins why queues of nodes could not be read, a [*NodeError] each, and why the
	// reading ended before its end. A node that failed before, as its locks were read, is
	// not asked and not named again.
	Err error
	// Read is how many of the nodes were asked for their queues and answered to the end.
	Read, Of int
	// Omitted says that more locks are waited for than [MaxWaitedFor].
	Omitted bool
	// At is when the last look at the queues began.
	At time.Time
	// Took is what the reading took, without finding the nodes and waiting for those that
	// are silent from the first.
	Took time.Duration
}

// WaitedFor is a lock with a queue.
type WaitedFor struct {
	Key, Resource string
	Lock          *Lock            // nil if no node has it at the moment
	Queue         []redlock.Queued // its first processes, at most [MaxQueued]
	Processes     int              // in the queue
	Callers       int              // of those in Queue, as far as they say
	At            time.Time        // when the queue was read: what is in it has waited until then
}

const (
	// MaxQueued bounds how many processes of a queue a [WaitedFor] names.
	MaxQueued = 100
	// MaxWaitedFor bounds how many locks a [Waits] has.
	MaxWaitedFor = 10_000
	// secondLook is how long after a cycle was seen it must still be there.
	secondLook = 150 * time.Millisecond
)

// waitsReader reads the queues of the nodes of a listing, and who holds their locks.
type waitsReader struct {
	*lister
	pass   *listPass
	queues map[string][]waitsNode // by lock key: where it has a queue
	waits  Waits
	failed map[waitsNode]error
	errs   []error
}

// readWaits goes through the keys of each master once, after its locks were read.
func readWaits(ctx context.Context, l *lister) *Waits {
	r := &waitsReader{lister: l, pass: newListPass(l, 0), queues: make(map[string][]waitsNode), failed: make(map[waitsNode]error)}
	began := r.cfg.now()
	r.findQueues(ctx)
	r.look(ctx)
	var watch waitgraph.Watch
	if watch.Deadlocks(r.waits.Graph); watch.Suspects() && pause(ctx, secondLook) {
		r.look(ctx)
		r.waits.Deadlocks = watch.Deadlocks(r.waits.Graph)
	}
	r.count(ctx)
	r.waits.Err, r.waits.Took = errors.Join(r.errs...), r.cfg.now().Sub(began)
	return &r.waits
}

// count tells how much of the nodes was read.
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
		r.errs = append(r.errs, fmt.Errorf("scanner: queues were not read to their end: %w", context.Cause(ctx)))
	}
}

// waitsNode is a master of a source.
type waitsNode struct {
	source *listedSource
	at     int
}

// findQueues goes through the keys of all masters, one source after another: there are
// few queues, and a listing is not waited for by anybody who pays for it.
func (r *waitsReader) findQueues(ctx context.Context) {
	for _, src := range r.sources {
		for at, m := range src.masters {
			if src.silent.Load() {
				break
			}
			if err := r.scan(ctx, waitsNode{src, at}, m.master); err != nil {
				r.fail(ctx, waitsNode{src, at}, "find queues", err)
			}
		}
	}
}

func (r *waitsReader) scan(ctx context.Context, n waitsNode, master *redis.Client) error {
	for _, pattern := range r.cfg.patterns() {
		for cursor, first := uint64(0), true; first || cursor != 0; first = false {
			keys, next, err := master.Scan(ctx, cursor, redlock.QueueKey(pattern), int64(r.cfg.pageSize)).Result()
			if err != nil {
				return err
			}
			for _, key := range keys {
				r.found(n, key)
			}
			if cursor = next; !pause(ctx, r.cfg.pause) {
				return context.Cause(ctx)
			}
		}
	}
	return nil
}

func (r *waitsReader) found(n waitsNode, queueKey string) {
	key, ok := redlock.LockOfQueue(queueKey)
	switch {
	case !ok || !r.options.wants(r.resource(key)) || slices.Contains(r.queues[key], n):
		return
	case len(r.queues[key]) == 0 && len(r.queues) >= MaxWaitedFor:
		r.waits.Omitted = true
		return
	}
	r.queues[key] = append(r.queues[key], n)
}

// fail takes down why a node's queues are not known, once, unless the listing ends.
func (r *waitsReader) fail(ctx context.Context, n waitsNode, op string, err error) {
	if ctx.Err() == nil && r.failed[n] == nil {
		r.failed[n] = &NodeError{Node: n.source.nodes[n.at].Node, Op: op, Err: redisconn.Scrub(err)}
		r.errs = append(r.errs, r.failed[n])
	}
	if !redisconn.IsReply(err) {
		n.source.silent.Store(true)
	}
}

// look reads the queues that were found, and who holds the locks.
func (r *waitsReader) look(ctx context.Context) {
	var all []WaitedFor
	var candidates []*candidate
	r.waits.At = r.cfg.now()
	for key, nodes := range r.queues {
		w := WaitedFor{Key: key, Resource: r.resource(key)}
		for _, n := range nodes {
			if n.source.silent.Load() {
				continue
			}
			queue, total, err := redlock.ReadQueue(ctx, n.source.masters[n.at].master, key, MaxQueued)
			if err != nil {
				r.fail(ctx, n, "read queue", err)
				continue
			}
			w.At = r.cfg.now()
			w.Queue, w.Processes = append(w.Queue, queue...), w.Processes+total
		}
		if w.settle(); w.Processes > 0 {
			all = append(all, w)
			candidates = append(candidates, &candidate{own: keyreader.Value{Key: key}})
		}
	}
	r.lookAtLocks(ctx, all, candidates)
	r.waits.Graph = graphOf(all)
	rank := make(map[string]int)
	for i, c := range r.waits.Graph.Contended(r.cfg.now()) {
		rank[c.Name] = i
	}
	slices.SortFunc(all, func(a, b WaitedFor) int { return cmp.Compare(rank[a.Resource], rank[b.Resource]) })
	r.waits.Locks = all
}

// settle makes one of what several nodes say: a process that found its node silent queues
// on another, and is told from others by its id.
func (w *WaitedFor) settle() {
	listed := len(w.Queue)
	slices.SortStableFunc(w.Queue, func(a, b redlock.Queued) int { return strings.Compare(a.ID, b.ID) })
	w.Queue = slices.CompactFunc(w.Queue, func(a, b redlock.Queued) bool { return a.ID == b.ID })
	w.Processes -= listed - len(w.Queue)
	slices.SortFunc(w.Queue, func(a, b redlock.Queued) int { return cmp.Or(a.Since.Compare(b.Since), strings.Compare(a.ID, b.ID)) })
	w.Queue = w.Queue[:min(len(w.Queue), MaxQueued)]
	w.Callers = 0
	for _, q := range w.Queue {
		if q.Says != nil {
			w.Callers += q.Says.Callers
		} else {
			w.Callers++
		}
	}
}

func (r *waitsReader) lookAtLocks(ctx context.Context, all []WaitedFor, found []*candidate) {
	asked := r.cfg.now()
	for i := range r.sources {
		for at, look := range r.pass.lookAtSource(ctx, i, found) {
			found[at].looks = append(found[at].looks, look)
		}
	}
	for i := range all {
		if l, ok := newLock(found[i].looks, len(r.sources)-len(found[i].looks)); ok {
			l.Resource, l.At = all[i].Resource, asked
			all[i].Lock = &l
		}
	}
}

func graphOf(all []WaitedFor) *waitgraph.Graph {
	resources := make([]waitgraph.Resource, 0, len(all))
	for _, w := range all {
		r := waitgraph.Resource{Name: w.Resource}
		if w.Lock != nil && w.Lock.Hold.Format == FormatLockscope {
			r.Lease = &waitgraph.Lease{Fence: w.Lock.Hold.Fence, Holder: w.Lock.Hold.Holder}
		}
		for _, q := range w.Queue {
			said := records.Waiting{Holder: lock.Holder{Since: q.Since}, Callers: 1}
			if q.Says != nil {
				said = *q.Says
			}
			r.Waiters = append(r.Waiters, said)
		}
		resources = append(resources, r)
	}
	return waitgraph.New(resources...)
}

// MergeWaits makes one of what several Scanners read. A name that several groups wait for
// is in the graph once: that of the first.
func MergeWaits(waits ...*Waits) *Waits {
	if len(waits) == 1 {
		return waits[0]
	}
	all := &Waits{}
	var errs []error
	named := make(map[string]bool)
	var once []WaitedFor
	for _, w := range waits {
		all.Locks = append(all.Locks, w.Locks...)
		all.Deadlocks = append(all.Deadlocks, w.Deadlocks...)
		all.Read, all.Of = all.Read+w.Read, all.Of+w.Of
		all.Omitted = all.Omitted || w.Omitted
		if all.At.IsZero() || w.At.Before(all.At) && !w.At.IsZero() {
			all.At = w.At
		}
		errs = append(errs, w.Err)
		for _, l := range w.Locks {
			if !named[l.Resource] {
				named[l.Resource] = true
				once = append(once, l)
			}
		}
	}
	all.Err, all.Graph = errors.Join(errs...), graphOf(once)
	return all
}
