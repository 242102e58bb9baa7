package listing

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/engine/records"
	"github.com/lockscope/lockscope/lock/redlock/stored"
	"github.com/lockscope/lockscope/lock/waitgraph"
)

// Waits is who waits for whom, as read from the queues of lockscope's locks. Other libraries have no queues.
type Waits struct {
	// Locks lists the locks that somebody waits for, those with the most waiting first.
	Locks []WaitedFor
	// Graph is the same by resource. A process that has waited for less than a tenth of a second has no Instance
	// there, because its queue entry does not name it yet.
	Graph *waitgraph.Graph
	// Deadlocks are cycles across processes, or inside one, that two looks have found.
	Deadlocks []lock.DeadlockError
	// Err joins the reasons why queues were not read, one [*report.NodeError] each, and why the reading ended early.
	// A node that had failed before, while its locks were read, is neither asked nor named again.
	Err error
	// Read is how many of the Of nodes were asked for their queues and answered to the end.
	Read, Of int
	// Omitted says that more locks are waited for than [MaxWaitedFor], or than a watch knows.
	Omitted bool
	// More is how many further locks are waited for by fewer callers, or for less time. Only a watch leaves them out.
	More int
	// Searched is how far the search for queues is, by node. It is nil for a system beside Redis, which is read whole.
	Searched []Search
	// At is when the last look at the queues began.
	At time.Time
	// Took is the duration of the reading, without finding the nodes and waiting for those that are silent from the
	// start.
	Took time.Duration
}

// Search is how far a node was searched for queues.
type Search struct {
	Node  string
	Keys  int64         // looked at in the pass under way, or in the last one, roughly
	Began time.Time     // of the pass under way; zero: none is
	Ended time.Time     // of the last whole pass; zero: there was none
	Took  time.Duration // the last whole pass
}

// WaitedFor is a lock with a queue.
type WaitedFor struct {
	Key, Resource string
	Lock          *Lock // nil if no node has it now
	// Slots are the held slots of its semaphore, with this one. It is nil for other locks, or if not all were read.
	Slots     []Lock
	Queue     []stored.Queued // the first processes, at most [MaxQueued]
	Processes int             // in the queue
	Callers   int             // of those processes in Queue that report them
	At        time.Time       // when the queue was read
}

const (
	// MaxQueued is the largest number of processes that a [WaitedFor] names.
	MaxQueued = 100
	// MaxWaitedFor is the largest number of locks in a [Waits].
	MaxWaitedFor = 10_000
)

// Settle merges what several nodes say about a queue. A process that found its node silent queues on another; its id
// tells it from others.
func (w *WaitedFor) Settle() {
	listed := len(w.Queue)
	slices.SortStableFunc(w.Queue, func(a, b stored.Queued) int { return strings.Compare(a.ID, b.ID) })
	w.Queue = slices.CompactFunc(w.Queue, func(a, b stored.Queued) bool { return a.ID == b.ID })
	w.Processes -= listed - len(w.Queue)
	slices.SortFunc(w.Queue, func(a, b stored.Queued) int {
		return cmp.Or(a.Since.Compare(b.Since),
			strings.Compare(a.ID, b.ID))
	})
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

// Waiting is how many calls wait: of processes that are not in Queue, one each is known.
func (w *WaitedFor) Waiting() int { return w.Callers + max(0, w.Processes-len(w.Queue)) }

// Waited is how long a process in the queue had waited when it was read; zero if its record does not say since when, as
// that of a plain Mutex of etcd.
func (w *WaitedFor) Waited(q stored.Queued) time.Duration {
	since := q.Since
	if q.Says != nil {
		since = q.Says.Since
	}
	if since.IsZero() {
		return 0
	}
	return max(0, w.At.Sub(since))
}

// Longest is the longest known wait.
func (w *WaitedFor) Longest() (most time.Duration) {
	for _, q := range w.Queue {
		most = max(most, w.Waited(q))
	}
	return most
}

// Stuck reports whether a resource is in a deadlock, or its chain ends in one.
func (w *Waits) Stuck(resource string) bool {
	names := append(w.Graph.Chain(resource), resource)
	return w.Graph.Stuck(resource) && slices.ContainsFunc(w.Deadlocks, func(d lock.DeadlockError) bool {
		return slices.ContainsFunc(d.Cycle, func(h lock.HeldLease) bool { return slices.Contains(names, h.Resource) })
	})
}

// Graph returns who waits for whom, by resource.
func Graph(all []WaitedFor) *waitgraph.Graph {
	resources := make([]waitgraph.Resource, 0, len(all))
	for _, w := range all {
		r := waitgraph.Resource{Name: w.Resource}
		r.Lease, r.Readers = leaseOf(w.Lock), otherReaders(w.Lock)
		for _, q := range w.Queue {
			said := records.Waiting{Holder: lock.Holder{Since: q.Since}, Callers: 1}
			if q.Says != nil {
				said = *q.Says
			}
			if said.Since.IsZero() {
				said.Since = w.At // the time is unknown
			}
			r.Waiters = append(r.Waiters, said)
		}
		resources = append(resources, r)
		for i := range w.Slots {
			resources = append(resources, waitgraph.Resource{Name: w.Slots[i].Resource, Lease: leaseOf(&w.Slots[i])})
		}
	}
	return waitgraph.New(resources...)
}

// otherReaders are those beside the first, as far as they are named.
func otherReaders(l *Lock) (all []waitgraph.Lease) {
	if l == nil || l.Readers == nil || len(l.Readers.First) < 2 {
		return nil
	}
	for _, r := range l.Readers.First[1:] {
		all = append(all, waitgraph.Lease{Fence: r.Hold.Fence, Holder: r.Hold.Holder})
	}
	return all
}

// leaseOf is nil for a lock of another library, and for one that is kept after its release.
func leaseOf(l *Lock) *waitgraph.Lease {
	if l == nil || l.Hold.Format != inspect.FormatLockscope || l.Hold.Done {
		return nil
	}
	return &waitgraph.Lease{Fence: l.Hold.Fence, Holder: l.Hold.Holder}
}
