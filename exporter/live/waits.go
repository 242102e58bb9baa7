package live

import (
	"sync"
	"time"
)

// waits has the quantiles of every second in which an Acquire finished. Only the
// second under way has a histogram.
type waits struct {
	seconds int64 // kept

	mu     sync.Mutex
	now    WaitPoint // the second under way; its quantiles are in open
	second int64     // Unix time of now
	open   histogram
	past   []WaitPoint // a ring, as long as there are seconds
	next   int         // where the next one goes
	slots  [recentSlots]recentSlot
}

// The last minute is kept in slots, so that its quantiles are those of all its calls.
const (
	recentSlotSeconds = 5
	recentSlots       = 60 / recentSlotSeconds
)

type recentSlot struct {
	slot          int64
	count, failed int
	took          histogram
}

func (w *waits) init(window time.Duration) {
	w.seconds = int64(window / time.Second)
}

// record counts one finished Acquire.
func (w *waits) record(now time.Time, took time.Duration, failed bool) {
	second := now.Unix()
	w.mu.Lock()
	defer w.mu.Unlock()
	// A record that comes late by a second goes with those of the second under way.
	if second > w.second || second < w.second-1 {
		w.turn(second)
	}
	w.now.Count++
	if failed {
		w.now.Failed++
	}
	w.open.add(took)
}

// turn closes the second under way and opens another. Where the clock was set
// back, what lies in the future of it is forgotten.
func (w *waits) turn(second int64) {
	if second < w.second {
		w.past, w.next = nil, 0
	} else if w.now.Count > 0 {
		w.keep(w.point())
	}
	w.keepRecent()
	w.open = histogram{}
	w.second, w.now = second, WaitPoint{At: time.Unix(second, 0).UTC()}
}

// keepRecent adds the second under way to its slot.
func (w *waits) keepRecent() {
	at := w.second / recentSlotSeconds
	s := &w.slots[at%recentSlots]
	if s.slot != at {
		*s = recentSlot{slot: at}
	}
	s.count += w.now.Count
	s.failed += w.now.Failed
	s.took.merge(&w.open)
}

// recent is the last minute, and those who wait by now.
func (w *waits) recent(now time.Time, waiting []waiter) (r Recent) {
	var took histogram
	for i := range waiting {
		took.add(waiting[i].waited(now))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	last := now.Unix() / recentSlotSeconds
	for i := range w.slots {
		if s := &w.slots[i]; s.slot > last-recentSlots && s.slot <= last {
			r.Ended, r.Failed = r.Ended+s.count, r.Failed+s.failed
			took.merge(&s.took)
		}
	}
	if at := w.second / recentSlotSeconds; at > last-recentSlots && at <= last {
		r.Ended, r.Failed = r.Ended+w.now.Count, r.Failed+w.now.Failed
		took.merge(&w.open)
	}
	r.P50, r.P99 = took.quantile(.5).Seconds(), took.quantile(.99).Seconds()
	return r
}

func (w *waits) keep(p WaitPoint) {
	if int64(len(w.past)) < w.seconds {
		w.past = append(w.past, p)
		return
	}
	w.past[w.next] = p
	w.next = (w.next + 1) % len(w.past)
}

// point is the second under way so far.
func (w *waits) point() WaitPoint {
	p := w.now
	p.P50, p.P99 = w.open.quantile(.5).Seconds(), w.open.quantile(.99).Seconds()
	return p
}

// points are the seconds within the window, oldest first.
func (w *waits) points(now time.Time) []WaitPoint {
	w.mu.Lock()
	defer w.mu.Unlock()
	oldest := time.Unix(now.Unix()-w.seconds+1, 0)
	points := make([]WaitPoint, 0, len(w.past)+1)
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
