// Package timeline records what happened to contended resources, for a trace that a person opens when a wait is over:
// calls with their attempts, waits and votes, leases and how they ended, and renewals. It also keeps the slowest calls
// for any resource with the same steps.
//
// # What is recorded
//
// A resource is recorded from the first wait for it, and for as long as somebody has waited for it in the last ten
// minutes. Nothing is recorded of other resources, so that an acquire without contention costs an atomic load. Calls
// and leases that were under way when the first wait began are recorded when they end.
//
// # Memory
//
// A Recorder has at most 32 resources unless it is made for others, and of each the latest 4,096 events of 112 bytes.
// The events of a call share 64 bytes for its caller, and up to 300 for each holder of another process. With three
// nodes a contended call has about ten events: a resource takes 0.6 MB when its ring is full, and 32 take 19 MB. The
// text of a failure takes up to 256 bytes, and equal texts are shared. If nodes fail with texts that all differ, it is
// 1.3 MB and 42 MB. Rings grow with the events: a resource with 100 calls takes 0.15 MB.
package timeline

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/text"
)

const (
	// For is how long events are kept, and a resource is recorded after the last wait for it.
	For = 10 * time.Minute
	// Idle is how long nobody has waited for a resource when another one may take its place.
	Idle = 10 * time.Second
	// fullFor is how long newcomers are turned away without a look at who could make room.
	fullFor = time.Second
)

// Recorder has the tracks of the contended resources. It is safe for concurrent use.
type Recorder struct {
	base time.Time
	max  int
	here func(instance string) bool
	all  atomic.Pointer[map[text.ID]*Track] // replaced, never changed; nil until somebody waits
	full atomic.Int64                       // until when newcomers are turned away, since base

	mu       sync.Mutex
	restarts []Restart // the latest
}

// New makes a Recorder of at most limit resources; with zero it records nothing. here reports whether an instance is a
// locker of this Board.
func New(limit int, here func(instance string) bool) *Recorder {
	return &Recorder{base: time.Now(), max: limit, here: here}
}

// Base is the time from which events count.
func (r *Recorder) Base() time.Time { return r.base }

// Empty reports whether nothing is recorded. It is one atomic load.
func (r *Recorder) Empty() bool { return r.all.Load() == nil }

// Find returns the track of a resource; nil if it is not recorded.
func (r *Recorder) Find(of text.ID, now time.Time) *Track {
	all := r.all.Load()
	if all == nil {
		return nil
	}
	t := (*all)[of]
	if t == nil || now.Sub(r.base)-time.Duration(t.waited.Load()) >= For {
		return nil
	}
	return t
}

// Contend records that a call begins to wait for a resource, and returns the track; nil if there is no room.
func (r *Recorder) Contend(of text.ID, now time.Time) *Track {
	since := now.Sub(r.base)
	if all := r.all.Load(); all != nil {
		if t := (*all)[of]; t != nil {
			t.waited.Store(int64(since))
			return t
		}
	}
	if r.max == 0 || int64(since) < r.full.Load() {
		return nil
	}
	return r.add(of, since)
}

// add makes room for a resource, if another one has expired or is idle.
func (r *Recorder) add(of text.ID, now time.Duration) *Track {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.copy(now)
	if known := all[of]; known != nil {
		return known
	}
	if len(all) >= r.max {
		least := longestIdle(all)
		if now-time.Duration(least.waited.Load()) < Idle {
			r.full.Store(int64(now + fullFor))
			return nil
		}
		delete(all, least.of)
	}
	of = text.ID{Backend: strings.Clone(of.Backend), Resource: strings.Clone(of.Resource)}
	t := &Track{of: of, base: r.base, here: r.here}
	t.waited.Store(int64(now))
	all[of] = t
	r.all.Store(&all)
	return t
}

// copy returns the tracks that have not expired. mu must be held.
func (r *Recorder) copy(now time.Duration) map[text.ID]*Track {
	all := make(map[text.ID]*Track)
	if old := r.all.Load(); old != nil {
		maps.Copy(all, *old)
	}
	maps.DeleteFunc(all, func(_ text.ID, t *Track) bool { return now-time.Duration(t.waited.Load()) >= For })
	return all
}

func longestIdle(all map[text.ID]*Track) (least *Track) {
	for _, t := range all {
		if least == nil || t.waited.Load() < least.waited.Load() {
			least = t
		}
	}
	return least
}

// Recorded returns the resources that are recorded, those waited for last first, and drops the expired ones.
func (r *Recorder) Recorded(now time.Time) []text.ID {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.Empty() {
		return nil
	}
	all := r.copy(now.Sub(r.base))
	if len(all) < len(*r.all.Load()) {
		r.all.Store(&all)
	}
	if len(all) == 0 {
		r.all.Store(nil)
	}
	return slices.SortedFunc(maps.Keys(all), func(x, y text.ID) int {
		return cmp.Or(cmp.Compare(all[y].waited.Load(), all[x].waited.Load()), cmp.Compare(x.Resource, y.Resource),
			cmp.Compare(x.Backend, y.Backend))
	})
}

// Max is how many resources can be recorded.
func (r *Recorder) Max() int { return r.max }

// maxRestarts is how many restarts of nodes are kept.
const maxRestarts = 64

// Restart is a node that may have forgotten locks.
type Restart struct {
	At            time.Duration // when it was detected, since the Base
	Backend, Node string
	Enforced      bool          // the node does not vote
	Evicted       bool          // the node evicted keys; it did not restart
	Left          time.Duration // how long forgotten locks could still be valid
}

// Restarted records a restart, whether or not a resource is recorded: restarts are rare.
func (r *Recorder) Restarted(now time.Time, of Restart) {
	of.At = now.Sub(r.base)
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.restarts) >= maxRestarts {
		r.restarts = slices.Delete(r.restarts, 0, 1)
	}
	r.restarts = append(r.restarts, of)
}

// Restarts returns the restarts after a time that concern a set of nodes.
func (r *Recorder) Restarts(backend string, after time.Time) (all []Restart) {
	since := after.Sub(r.base)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, known := range r.restarts {
		if known.Backend == backend && known.At >= since {
			all = append(all, known)
		}
	}
	return all
}
