package live

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// slowSlots is how many minutes touch the time for which acquisitions are kept.
const slowSlots = int64(SlowestFor/time.Minute) + 1

// slowest has the n slowest acquisitions of each of the last minutes, and so the n
// slowest of all of them, whenever they happened.
type slowest struct {
	n int
	// What the minute under way wants more than; read without the mutex, for
	// nearly every call is turned away by it.
	minute atomic.Int64
	floor  atomic.Int64

	mu    sync.Mutex
	slots [slowSlots]slowSlot
}

type slowSlot struct {
	minute int64
	kept   []*kept
}

func minuteOf(now time.Time) int64 { return now.Unix() / 60 }

// wants reports that an acquisition may be among the slowest.
func (s *slowest) wants(now time.Time, took time.Duration) bool {
	return s.n > 0 && (s.minute.Load() != minuteOf(now) || int64(took) > s.floor.Load())
}

// keep adds an acquisition, unless n slower ones came in between.
func (s *slowest) keep(now time.Time, k *kept) {
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

// slot is that of a minute; it forgets the minute that had it before.
func (s *slowest) slot(minute int64) *slowSlot {
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

// floor is what an acquisition must have taken more than to be kept.
func (s *slowSlot) floor(n int) int64 {
	if len(s.kept) < n {
		return -1
	}
	return int64(s.kept[s.fastest()].took)
}

// acquisitions are the slowest of the time kept, slowest first.
func (s *slowest) acquisitions(now time.Time) []Acquisition {
	slow := s.recent(now)
	slices.SortFunc(slow, func(a, b *kept) int {
		return cmp.Or(cmp.Compare(b.took, a.took), b.ended.Compare(a.ended))
	})
	slow = slow[:min(s.n, len(slow))]
	all := make([]Acquisition, 0, len(slow))
	for _, k := range slow {
		all = append(all, k.acquisition())
	}
	return all
}

func (s *slowest) recent(now time.Time) (slow []*kept) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.slots {
		for _, k := range s.slots[i].kept {
			if age := now.Sub(k.ended); age < SlowestFor {
				slow = append(slow, k)
			}
		}
	}
	return slow
}
