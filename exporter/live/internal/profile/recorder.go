// Package profile adds up the waits of a Board twice: by the stack that waited, and by the holder that it waited for.
//
// Memory is bounded. A Recorder keeps at most 512 stacks of 64 frames and 1,000 rows of each table, and adds up the
// rest as "other". A full Recorder takes 1.2 MB with names of twenty bytes, and 4.7 MB with the longest names that a
// Board keeps.
package profile

import (
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/text"
	"github.com/lockscope/lockscope/lock/locktrace"
)

const maxRows = 1000

// Recorder adds up waits. It is safe for concurrent use.
type Recorder struct {
	rate  time.Duration
	began time.Time

	mu      sync.Mutex
	stacks  stacks
	waiters table[waiterKey]
	holders table[holderKey]
}

// waiterKey is what the time of a waiter is charged to.
type waiterKey struct {
	stack    *Stack // nil: not known, or one of many
	callSite string // without a stack: of the waiting call, if known
	of       text.ID
	class    locktrace.Wait
	instance string // of the holder
	other    bool   // rows that did not fit
}

func (k waiterKey) own() waiterKey {
	k.of, k.instance, k.callSite = cloned(k.of), strings.Clone(k.instance), strings.Clone(k.callSite)
	return k
}

// New returns a Recorder that samples the stacks of waits as Go's block profile does: each wait that takes rate or
// longer, and a shorter one with the probability took/rate. It keeps no stacks if rate is 0.
func New(rate time.Duration) *Recorder {
	r := &Recorder{rate: rate, began: time.Now()}
	r.waiters = newTable(waiterKey.own, func(k waiterKey) waiterKey { return waiterKey{class: k.class, other: true} })
	r.holders = newTable(holderKey.own, func(holderKey) holderKey { return holderKey{other: true} })
	return r
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
	w.rows(func(k waiterKey, s sample) { r.waiters.row(k, now).add(s.times(scale)) })
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
func (w *Wait) rows(yield func(waiterKey, sample)) {
	first := w.Spent.first()
	for i, s := range w.Spent {
		k := waiterKey{stack: w.Stack, of: short(w.Of), class: s.Class, instance: s.Instance}
		if w.Stack == nil {
			k.callSite = shortName(w.CallSite)
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
