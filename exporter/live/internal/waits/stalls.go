package waits

import (
	"time"

	"github.com/lockscope/lockscope/exporter/live/state"
)

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
