package list

import (
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/waitgraph"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/listing"
)

// Limits bound what is read of waiters.
type Limits struct {
	Timeout time.Duration // of one step on one node; 0: the connection's
	Pages   int           // of SCAN in one look; 0: all
	Search  time.Duration // after which the search pauses until the next look
	Known   int           // locks whose queues are measured
	Shown   int           // locks whose waiters and holders are read: those that are waited for the most
	Slots   int           // further slots of their semaphores
}

// Whole are the limits of a single look at everything.
func Whole() Limits {
	return Limits{Known: listing.MaxWaitedFor, Shown: listing.MaxWaitedFor, Slots: listing.MaxWaitedFor}
}

// keptEmpty is how long an empty queue is still measured.
const keptEmpty = time.Minute

// Watch remembers between looks which locks have a queue, how far the search for others is, and the cycles of the last
// look. It is for one look at a time.
type Watch struct {
	limits Limits
	cycles waitgraph.Watch
	able   map[string]keyreader.Capability // by node

	mu       sync.Mutex
	queues   map[string]time.Time // lock key: when it last had a queue
	omitted  bool                 // there were more than may be known
	searches map[string]*search   // by node
}

// NewWatch prepares looks with these limits.
func NewWatch(l Limits) *Watch {
	return &Watch{limits: l, able: make(map[string]keyreader.Capability), queues: make(map[string]time.Time),
		searches: make(map[string]*search)}
}

// Add makes a lock known that may have a queue.
func (w *Watch) Add(key string, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, known := w.queues[key]; !known && len(w.queues) >= w.limits.Known {
		w.omitted = true
		return
	}
	w.queues[key] = now
}

// keys returns the locks that have, or just had, a queue.
func (w *Watch) keys() (keys []string) {
	for key := range w.queues {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// forget drops the locks whose queue has been empty for a while.
func (w *Watch) forget(found []length, now time.Time) {
	for i := range found {
		w.queues[found[i].key] = now
	}
	for key, at := range w.queues {
		if now.Sub(at) > keptEmpty {
			delete(w.queues, key)
			w.omitted = false // unless the search finds one more
		}
	}
}

// searchOf is the search of a node. The patterns are as many passes.
func (w *Watch) searchOf(node string) *search {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.searches[node]
	if s == nil {
		s = &search{Search: listing.Search{Node: node}}
		w.searches[node] = s
	}
	return s
}

// search is a walk through the keys of one node for queues.
type search struct {
	listing.Search
	pattern int
	cursor  uint64
}

// length is how much waits in a queue, over all nodes.
type length struct {
	key       string
	processes int64
	first     time.Time
	on        []int // nodes that have it
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

// weight is what decides which queues are read: processes times the longest wait.
func (l *length) weight(now time.Time) float64 {
	return float64(l.processes) * max(0, now.Sub(l.first)).Seconds()
}
