package traceevent

import (
	"math"
	"time"
)

// Lanes finds threads for slices that overlap, in the order of their starts: the first one that is free. Slices inside
// go to the same thread.
type Lanes struct {
	open func(n int) *Thread // adds the nth thread, from 1
	all  []*lane
}

type lane struct {
	*Thread
	until time.Duration
}

// NewLanes adds threads with open, when it needs them.
func NewLanes(open func(n int) *Thread) *Lanes { return &Lanes{open: open} }

// Take returns the thread for a slice. Starts must not decrease from call to call.
func (l *Lanes) Take(start, end time.Duration) *Thread {
	for _, known := range l.all {
		if known.until <= start {
			known.until = end
			return known.Thread
		}
	}
	added := &lane{l.open(len(l.all) + 1), end}
	l.all = append(l.all, added)
	return added.Thread
}

// First returns the first thread, for instants.
func (l *Lanes) First() *Thread {
	if len(l.all) == 0 {
		l.all = append(l.all, &lane{l.open(1), math.MinInt64})
	}
	return l.all[0].Thread
}
