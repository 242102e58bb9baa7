// Package slowest keeps the slowest recent acquisitions, with their steps.
package slowest

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockscope/lockscope/exporter/live/state"
)

// slowSlots is how many minutes overlap the time for which acquisitions are kept.
const slowSlots = int64(state.SlowestFor/time.Minute) + 1

// List has the n slowest acquisitions of each of the last minutes, and so the n slowest of all of them, whenever they
// happened.
type List struct {
	n       int
	buffers sync.Pool // of *buffer
	// minute is the duration that the current minute wants more than. It is read without the mutex, because it turns
	// away nearly every call.
	minute atomic.Int64
	floor  atomic.Int64

	mu    sync.Mutex
	slots [slowSlots]slowSlot
}

type slowSlot struct {
	minute int64
	kept   []*kept
}

// New keeps n acquisitions. With zero it records no steps.
func New(n int) *List {
	return &List{n: n, buffers: sync.Pool{New: func() any { return new(buffer) }}}
}

func minuteOf(now time.Time) int64 { return now.Unix() / 60 }

// Record adds a step to the trail of a call, or to the record of a call that has ended.
func (s *List) Record(t *Trail, step Step) {
	switch {
	case t.kept != nil:
		t.kept.addLate(step)
	case !t.over && s.n > 0:
		if t.steps == nil {
			t.steps = s.buffers.Get().(*buffer)
		}
		t.steps.add(step)
	}
}

// Wants reports whether an acquisition may be among the slowest.
func (s *List) Wants(now time.Time, took time.Duration) bool {
	return s.n > 0 && (s.minute.Load() != minuteOf(now) || int64(took) > s.floor.Load())
}

// Add takes the trail of a call, whether or not it is among the slowest.
func (s *List) Add(e Ended, c Call) {
	if e.kept != nil {
		e.kept.fill(c, e.steps)
		s.keep(c.Ended, e.kept)
	}
	s.Forget(e)
}

// Forget takes the trail of a call that is not recorded.
func (s *List) Forget(e Ended) {
	if e.steps != nil {
		e.steps.clear()
		s.buffers.Put(e.steps)
	}
}

// keep adds an acquisition, unless n slower ones came in between.
func (s *List) keep(now time.Time, k *kept) {
	s.mu.Lock()
	defer s.mu.Unlock()
	slot := s.slot(minuteOf(now))
	if len(slot.kept) < s.n {
		slot.kept = append(slot.kept, k)
	} else if i := slot.fastest(); slot.kept[i].took < k.took {
		slot.kept[i].drop()
		slot.kept[i] = k
	} else {
		k.drop()
	}
	s.minute.Store(slot.minute)
	s.floor.Store(slot.floor(s.n))
}

// slot returns the slot of a minute, and clears it of the minute that had it before.
func (s *List) slot(minute int64) *slowSlot {
	slot := &s.slots[minute%slowSlots]
	if slot.minute != minute {
		for _, k := range slot.kept {
			k.drop()
		}
		*slot = slowSlot{minute: minute}
	}
	return slot
}

func (s *slowSlot) fastest() int {
	fastest := 0
	for i, k := range s.kept {
		if k.took < s.kept[fastest].took {
			fastest = i
		}
	}
	return fastest
}

// floor is the duration that an acquisition must exceed to be kept.
func (s *slowSlot) floor(n int) int64 {
	if len(s.kept) < n {
		return -1
	}
	return int64(s.kept[s.fastest()].took)
}

// Acquisitions returns the slowest acquisitions of the time kept, slowest first.
func (s *List) Acquisitions(now time.Time) []state.Acquisition {
	slow := s.recent(now)
	slices.SortFunc(slow, func(a, b *kept) int {
		return cmp.Or(cmp.Compare(b.took, a.took), b.ended.Compare(a.ended))
	})
	slow = slow[:min(s.n, len(slow))]
	all := make([]state.Acquisition, 0, len(slow))
	for _, k := range slow {
		all = append(all, k.acquisition())
	}
	return all
}

func (s *List) recent(now time.Time) (slow []*kept) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.slots {
		for _, k := range s.slots[i].kept {
			if age := now.Sub(k.ended); age < state.SlowestFor {
				slow = append(slow, k)
			}
		}
	}
	return slow
}
