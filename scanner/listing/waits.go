package listing

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/records"
	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/lock/waitgraph"
	"github.com/lockscope/lockscope/scanner/report"
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
	// Err joins why queues of nodes could not be read, a [*report.NodeError] each, and why the
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
)

// Settle makes one of what several nodes say: a process that found its node silent queues
// on another, and is told from others by its id.
func (w *WaitedFor) Settle() {
	listed := len(w.Queue)
	slices.SortStableFunc(w.Queue, func(a, b redlock.Queued) int { return strings.Compare(a.ID, b.ID) })
	w.Queue = slices.CompactFunc(w.Queue, func(a, b redlock.Queued) bool { return a.ID == b.ID })
	w.Processes -= listed - len(w.Queue)
	slices.SortFunc(w.Queue, func(a, b redlock.Queued) int {
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

// Graph is who waits for whom, by resource.
func Graph(all []WaitedFor) *waitgraph.Graph {
	resources := make([]waitgraph.Resource, 0, len(all))
	for _, w := range all {
		r := waitgraph.Resource{Name: w.Resource}
		if w.Lock != nil && w.Lock.Hold.Format == report.FormatLockscope {
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
