// Package spare finds what a pool could do without: an outage makes it grow, and the work after it needs less.
package spare

import "time"

// Watch looks at a pool once in an interval. The mutex of the pool guards it.
type Watch struct {
	Every  time.Duration
	fewest int // that were idle at once since the last look
	looked time.Time
}

// Took records that something idle was taken, and how many idle ones are left.
func (w *Watch) Took(left int) { w.fewest = min(w.fewest, left) }

// Spare reports, once in an interval, whether something was idle ever since it last did. Call it when something has
// become idle, with how many are idle now. A pool that gives one up each time keeps what it needs.
func (w *Watch) Spare(idle int) bool {
	now := time.Now()
	if now.Sub(w.looked) < w.Every {
		return false
	}
	spare := w.fewest > 0
	w.looked, w.fewest = now, idle
	return spare
}
