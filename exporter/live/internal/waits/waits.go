// Package waits has the quantiles of the waits of the last seconds, and the histogram that they come from.
package waits

import (
	"iter"
	"sync"
	"time"

	"github.com/lockscope/lockscope/exporter/live/state"
)

// Waits has the quantiles of every second in which an Acquire finished. Only the current second has a histogram.
type Waits struct {
	seconds int64 // kept

	mu     sync.Mutex
	now    state.WaitPoint // the second under way; its quantiles are in open
	second int64           // Unix time of now
	open   Histogram
	past   []state.WaitPoint // a ring, as long as there are seconds
	next   int               // where the next one goes
	slots  [recentSlots]recentSlot

	acquired time.Time     // the last time that a call acquired something; zero: never
	stalls   []state.Stall // the latest, oldest first
}

// The last minute is kept in slots, so that its quantiles are those of all its calls.
const (
	recentSlotSeconds = 5
	recentSlots       = 60 / recentSlotSeconds
)

type recentSlot struct {
	slot          int64
	count, failed int
	took          Histogram
}

// New keeps the seconds of a window.
func New(window time.Duration) *Waits { return &Waits{seconds: int64(window / time.Second)} }

// Outcome is how an Acquire ended.
type Outcome int

// The outcomes of an Acquire.
const (
	Acquired Outcome = iota
	Missed           // NoWait found the lock held: nothing was acquired, and nothing failed
	Failed
)

// Record counts one finished Acquire.
func (w *Waits) Record(now time.Time, took time.Duration, outcome Outcome) {
	second := now.Unix()
	w.mu.Lock()
	defer w.mu.Unlock()
	// A record that comes late by a second goes with those of the second under way.
	if second > w.second || second < w.second-1 {
		w.turn(second)
	}
	w.now.Count++
	w.open.Add(took)
	switch outcome {
	case Acquired:
		w.stalled(now, took)
	case Failed:
		w.now.Failed++
	}
}

// turn closes the current second and opens another. If the clock was set back, it forgets the seconds in its future.
func (w *Waits) turn(second int64) {
	if second < w.second {
		w.past, w.next = nil, 0
	} else if w.now.Count > 0 {
		w.keep(w.point())
	}
	w.keepRecent()
	w.open = Histogram{}
	w.second, w.now = second, state.WaitPoint{At: time.Unix(second, 0).UTC()}
}

// keepRecent adds the current second to its slot.
func (w *Waits) keepRecent() {
	at := w.second / recentSlotSeconds
	s := &w.slots[at%recentSlots]
	if s.slot != at {
		*s = recentSlot{slot: at}
	}
	s.count += w.now.Count
	s.failed += w.now.Failed
	s.took.Merge(&w.open)
}

// Recent covers the last minute, and the calls that are still waiting with their time so far.
func (w *Waits) Recent(now time.Time, waiting iter.Seq[time.Duration]) (r state.Recent) {
	var took Histogram
	var longest time.Duration
	for waited := range waiting {
		took.Add(waited)
		longest = max(longest, waited)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	last := now.Unix() / recentSlotSeconds
	for i := range w.slots {
		if s := &w.slots[i]; s.slot > last-recentSlots && s.slot <= last {
			r.Ended, r.Failed = r.Ended+s.count, r.Failed+s.failed
			took.Merge(&s.took)
		}
	}
	if at := w.second / recentSlotSeconds; at > last-recentSlots && at <= last {
		r.Ended, r.Failed = r.Ended+w.now.Count, r.Failed+w.now.Failed
		took.Merge(&w.open)
	}
	r.P50, r.P99 = took.Quantile(.5).Seconds(), took.Quantile(.99).Seconds()
	r.Stalled = w.since(now, longest).Seconds()
	return r
}

func (w *Waits) keep(p state.WaitPoint) {
	if int64(len(w.past)) < w.seconds {
		w.past = append(w.past, p)
		return
	}
	w.past[w.next] = p
	w.next = (w.next + 1) % len(w.past)
}

// point is the current second so far.
func (w *Waits) point() state.WaitPoint {
	p := w.now
	p.P50, p.P99 = w.open.Quantile(.5).Seconds(), w.open.Quantile(.99).Seconds()
	return p
}

// Points returns the seconds within the window, oldest first.
func (w *Waits) Points(now time.Time) []state.WaitPoint {
	w.mu.Lock()
	defer w.mu.Unlock()
	oldest := time.Unix(now.Unix()-w.seconds+1, 0)
	points := make([]state.WaitPoint, 0, len(w.past)+1)
	for i := range w.past {
		if p := w.past[(w.next+i)%len(w.past)]; !p.At.Before(oldest) {
			points = append(points, p)
		}
	}
	if w.now.Count > 0 && !w.now.At.Before(oldest) {
		points = append(points, w.point())
	}
	return points
}
