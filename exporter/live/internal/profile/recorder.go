// Package profile adds up the waits of a Board twice: by the stack that waited, and by the holder that it waited for.
//
// Memory is bounded. A Recorder keeps at most 512 stacks of 64 frames and 1,000 rows of each table, and adds up the
// rest as "other". A full Recorder takes 1.2 MB with names of twenty bytes, and 4.7 MB with the longest names that a
// Board keeps.
package profile

import (
	"cmp"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/text"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock/decorate"
	"github.com/lockscope/lockscope/lock/locktrace"
)

const maxRows = 1000

// Recorder adds up waits. It is safe for concurrent use.
type Recorder struct {
	rate  time.Duration
	began time.Time

	mu      sync.Mutex
	stacks  stacks
	waiters table
	holders table
}

// New returns a Recorder that samples the stacks of waits as Go's block profile does: each wait that takes rate or
// longer, and a shorter one with the probability took/rate. It keeps no stacks if rate is 0.
func New(rate time.Duration) *Recorder {
	return &Recorder{rate: rate, began: time.Now(), waiters: make(table), holders: make(table)}
}

// Stacks reports whether stacks are kept.
func (r *Recorder) Stacks() bool { return r.rate > 0 }

// Wait is the wait of one call, which may be under way.
type Wait struct {
	Stack    *Stack // nil if it is not known
	CallSite string // stands for the stack
	Of       text.ID
	Took     time.Duration
	Spent    Spent // adds up to Took
}

// Long reports whether a wait that took so long is recorded, as a rule.
func (r *Recorder) Long(took time.Duration) bool { return took >= r.rate/2 }

// Ended records the wait of a call that returns, in the goroutine of the call. It takes the stack if the wait has none.
func (r *Recorder) Ended(w Wait) {
	scale, sampled := r.sample(w.Took)
	if !sampled {
		return
	}
	if w.Stack == nil {
		w.Stack = r.Stack()
	}
	now := r.minute(time.Now())
	r.mu.Lock()
	defer r.mu.Unlock()
	w.rows(func(k key, s sample) { r.waiters.row(k, now).add(s.times(scale)) })
}

// sample decides whether a wait is recorded, and by how much it stands for others.
func (r *Recorder) sample(took time.Duration) (scale float64, sampled bool) {
	switch {
	case r.rate <= 0 || took <= 0:
		return 0, false
	case took >= r.rate:
		return 1, true
	}
	return float64(r.rate) / float64(took), rand.Int64N(int64(r.rate)) < int64(took)
}

// rows yields what a wait adds to the table. The call counts once, in the row of its first cause that is not the
// network: that row stays the same until the call returns.
func (w *Wait) rows(yield func(key, sample)) {
	first := w.Spent.first()
	for i, s := range w.Spent {
		k := key{stack: w.Stack, of: short(w.Of), class: s.Class, Holder: Holder{Instance: s.Instance, kind: waiter}}
		if w.Stack == nil {
			k.CallSite = shortName(w.CallSite)
		}
		added := sample{took: s.Took}
		if i == first {
			added.count = 1
		}
		yield(k, added)
	}
}

// minute counts from the start of the Recorder.
func (r *Recorder) minute(now time.Time) int64 { return int64(now.Sub(r.began) / time.Minute) }

// Inflict charges a holder with the time of its waiters, if there is any.
func (r *Recorder) Inflict(of text.ID, by Holder, s decorate.LineStretch) {
	if s.Waits == 0 && s.Took <= 0 {
		return
	}
	minute := r.minute(s.Until)
	r.mu.Lock()
	defer r.mu.Unlock()
	to := r.holders.row(key{of: short(of), class: locktrace.WaitHolder, Holder: by}, minute)
	added := sample{float64(s.Waits), max(s.Took, 0)}
	to.add(added)
	to.at(minute).count += added.count
	into := s.Until.Sub(r.began) - time.Duration(minute)*time.Minute // of the present minute
	if s.Span <= into {
		to.at(minute).took += added.took
		return
	}
	// A wait of an hour that nobody has looked at adds ten minutes to the last ten.
	for m, left := minute, s.Span; m >= 0 && m > minute-minutes && left > 0; m-- {
		part := min(into, left)
		to.at(m).took += time.Duration(float64(added.took) * float64(part) / float64(s.Span))
		left, into = left-part, time.Minute
	}
}

// MostInflicted returns the holders that made others wait longest in the last ten minutes, with hand-overs, in which
// nobody holds the lock. It leaves out time for which no holder was known.
func (r *Recorder) MostInflicted(now time.Time) []state.Inflicted {
	minute := r.minute(now)
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]state.Inflicted, 0)
	for k, row := range r.holders {
		s := row.lately(minute)
		if k.kind == otherHolders || k.kind == notKnown || s.took <= 0 {
			continue
		}
		all = append(all, state.Inflicted{
			Resource: k.of.Resource, Backend: k.of.Backend, Holder: k.Name(), CallSite: k.CallSite,
			Seconds: s.took.Seconds(), Waits: int(s.count),
		})
	}
	slices.SortFunc(all, func(x, y state.Inflicted) int {
		return cmp.Or(cmp.Compare(y.Seconds, x.Seconds), strings.Compare(x.Resource, y.Resource),
			strings.Compare(x.Backend, y.Backend), strings.Compare(x.Holder, y.Holder),
			strings.Compare(x.CallSite, y.CallSite))
	})
	return all[:min(len(all), state.MaxInflicted)]
}

const (
	maxStacks = 512
	maxFrames = 64
)

// Stack is where a call waits. One stack has one Stack of a Recorder, except for those that did not fit: they share
// otherStack.
type Stack struct{ pcs []uintptr }

// stacks has each stack once.
type stacks struct {
	byHash map[uint64][]*Stack
	n      int
	other  Stack // stands for stacks that did not fit
}

// Stack returns the stack of the calling goroutine; nil if the Recorder keeps none.
func (r *Recorder) Stack() *Stack {
	if !r.Stacks() {
		return nil
	}
	var pcs [maxFrames]uintptr
	n := runtime.Callers(2, pcs[:])
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stacks.of(pcs[:n])
}

func (s *stacks) of(pcs []uintptr) *Stack {
	const offset, prime = 14695981039346656037, 1099511628211 // FNV-1a, a word at a time
	hash := uint64(offset)
	for _, pc := range pcs {
		hash = (hash ^ uint64(pc)) * prime
	}
	for _, known := range s.byHash[hash] {
		if slices.Equal(known.pcs, pcs) {
			return known
		}
	}
	if s.n >= maxStacks {
		return &s.other
	}
	if s.byHash == nil {
		s.byHash = make(map[uint64][]*Stack)
	}
	added := &Stack{slices.Clone(pcs)}
	s.byHash[hash] = append(s.byHash[hash], added)
	s.n++
	return added
}
