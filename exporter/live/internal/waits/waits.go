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
	now    ended             // in the second under way
	second int64             // Unix time of now
	past   []state.WaitPoint // a ring, as long as there are seconds
	next   int               // where the next one goes
	minute Minute[ended]

	acquired time.Time     // the last time that a call acquired something; zero: never
	stalls   []state.Stall // the latest, oldest first
}

// ended counts calls, so that quantiles are those of all of them.
type ended struct {
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
	for _, to := range [...]*ended{&w.now, w.minute.At(w.second)} {
		to.count++
		to.took.Add(took)
		if outcome == Failed {
			to.failed++
		}
	}
	if outcome == Acquired {
		w.stalled(now, took)
	}
}

// turn closes the current second and opens another. If the clock was set back, it forgets the seconds in its future.
func (w *Waits) turn(second int64) {
	if second < w.second {
		w.past, w.next = nil, 0
	} else if w.now.count > 0 {
		w.keep(w.point())
	}
	w.second, w.now = second, ended{}
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
	for s := range w.minute.Last(now.Unix()) {
		r.Ended, r.Failed = r.Ended+s.count, r.Failed+s.failed
		took.Merge(&s.took)
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
	return state.WaitPoint{
		At: time.Unix(w.second, 0).UTC(), Count: w.now.count, Failed: w.now.failed,
		P50: w.now.took.Quantile(.5).Seconds(), P99: w.now.took.Quantile(.99).Seconds(),
	}
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
	if p := w.point(); p.Count > 0 && !p.At.Before(oldest) {
		points = append(points, p)
	}
	return points
}

const (
	// stallFrom is the shortest stall that is kept.
	stallFrom = 3 * time.Second
	maxStalls = 50
)

// since is for how long a call has waited and none has acquired anything. mu must be held.
func (w *Waits) since(now time.Time, waited time.Duration) time.Duration {
	if w.acquired.IsZero() {
		return waited
	}
	return max(min(waited, now.Sub(w.acquired)), 0)
}

// stalled records that a call acquires something after it has waited, and that nobody has for a while. mu must be held.
func (w *Waits) stalled(now time.Time, waited time.Duration) {
	if d := w.since(now, waited); d >= stallFrom {
		if len(w.stalls) == maxStalls {
			w.stalls = append(w.stalls[:0], w.stalls[1:]...)
		}
		w.stalls = append(w.stalls, stall(now, d))
	}
	w.acquired = now
}

func stall(now time.Time, d time.Duration) state.Stall {
	return state.Stall{At: now.Add(-d).Round(0).UTC(), Took: d.Seconds()}
}

// Stalls returns those within the window, oldest first, with that of the present if calls have waited so long.
func (w *Waits) Stalls(now time.Time, waited time.Duration) []state.Stall {
	w.mu.Lock()
	defer w.mu.Unlock()
	oldest, stalls := now.Add(-time.Duration(w.seconds)*time.Second), make([]state.Stall, 0, len(w.stalls)+1)
	for _, s := range w.stalls {
		if s.At.Add(time.Duration(s.Took * float64(time.Second))).After(oldest) {
			stalls = append(stalls, s)
		}
	}
	if d := w.since(now, waited); d >= stallFrom {
		stalls = append(stalls, stall(now, d))
	}
	return stalls
}
