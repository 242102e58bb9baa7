package timeline

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/text"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
)

// slowSlots is how many minutes overlap the time for which acquisitions are kept.
const slowSlots = int64(state.SlowestFor/time.Minute) + 1

// Slowest has the n slowest acquisitions of each of the last minutes, and so the n slowest of all of them, whenever
// they happened. It is safe for concurrent use.
type Slowest struct {
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
	kept   []*kept // by the time they took
}

// kept is one of the slowest acquisitions. It takes late steps until it is dropped.
type kept struct {
	ended time.Time
	took  time.Duration

	mu      sync.Mutex
	told    state.Acquisition
	dropped bool
}

// NewSlowest keeps n acquisitions. With zero it records no steps.
func NewSlowest(n int) *Slowest {
	return &Slowest{n: n, buffers: sync.Pool{New: func() any { return new(buffer) }}}
}

func minuteOf(now time.Time) int64 { return now.Unix() / 60 }

// Record adds a step to the trail of a call, or to the record of a call that has ended.
func (s *Slowest) Record(t *Trail, step Step) {
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
func (s *Slowest) Wants(now time.Time, took time.Duration) bool {
	return s.n > 0 && (s.minute.Load() != minuteOf(now) || int64(took) > s.floor.Load())
}

// Add takes the trail of a call, whether or not it is among the slowest.
func (s *Slowest) Add(d Done) {
	if k := d.Trail.kept; k != nil {
		k.fill(d)
		s.keep(k)
	}
	s.Forget(d.Trail)
}

// Forget takes the trail of a call that is not recorded.
func (s *Slowest) Forget(t Trail) {
	if t.steps != nil {
		t.steps.clear()
		s.buffers.Put(t.steps)
	}
}

// keep adds an acquisition, unless n slower ones came in between.
func (s *Slowest) keep(k *kept) {
	s.mu.Lock()
	defer s.mu.Unlock()
	slot := s.slot(minuteOf(k.ended))
	i, _ := slices.BinarySearchFunc(slot.kept, k, func(x, k *kept) int { return cmp.Or(cmp.Compare(x.took, k.took), -1) })
	if slot.kept = slices.Insert(slot.kept, i, k); len(slot.kept) > s.n {
		slot.kept[0].drop()
		slot.kept = slices.Delete(slot.kept, 0, 1)
	}
	floor := int64(-1) // what an acquisition must exceed to be kept
	if len(slot.kept) == s.n {
		floor = int64(slot.kept[0].took)
	}
	s.minute.Store(slot.minute)
	s.floor.Store(floor)
}

// slot returns the slot of a minute, and clears it of the minute that had it before.
func (s *Slowest) slot(minute int64) *slowSlot {
	slot := &s.slots[minute%slowSlots]
	if slot.minute != minute {
		for _, k := range slot.kept {
			k.drop()
		}
		*slot = slowSlot{minute: minute}
	}
	return slot
}

// Acquisitions returns the slowest acquisitions of the time kept, slowest first.
func (s *Slowest) Acquisitions(now time.Time) []state.Acquisition {
	var slow []*kept
	s.mu.Lock()
	for i := range s.slots {
		for _, k := range s.slots[i].kept {
			if age := now.Sub(k.ended); age < state.SlowestFor {
				slow = append(slow, k)
			}
		}
	}
	s.mu.Unlock()
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

// fill makes the record of a call that has ended. mu is held, and is unlocked.
func (k *kept) fill(c Done) {
	defer text.Contain()
	defer k.mu.Unlock()
	k.ended, k.took = c.Ended, c.Ended.Sub(c.Began)
	steps, omitted := c.Trail.Steps()
	k.told = state.Acquisition{
		Resource: text.Resource(c.Resource), Backend: text.Name(c.Backend),
		At: c.Began.Round(0).UTC(), Took: k.took.Seconds(), Outcome: Acquired, TraceID: text.TraceID(c.Trace),
		Steps: make([]state.Step, 0, len(steps)+spareSteps), Omitted: omitted,
	}
	if c.Err != nil {
		k.told.Outcome = string(lock.ReasonOf(c.Err))
		k.told.Error = text.Error(c.Err)
	}
	for i := range steps {
		k.told.Steps = append(k.told.Steps, steps[i].told())
	}
}

// spareSteps leaves room for late steps without another allocation.
const spareSteps = 2

// addLate adds a step that ended after its acquisition.
func (k *kept) addLate(s Step) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.dropped:
	case len(k.told.Steps) >= state.MaxSteps:
		k.told.Omitted++
	default:
		k.told.Steps = append(k.told.Steps, s.told())
	}
}

// drop drops the steps. The holder of the lease still refers to the record.
func (k *kept) drop() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.told, k.dropped = state.Acquisition{}, true
}

func (k *kept) acquisition() state.Acquisition {
	k.mu.Lock()
	defer k.mu.Unlock()
	a := k.told
	a.Steps = slices.Clone(a.Steps)
	slices.SortStableFunc(a.Steps, func(x, y state.Step) int {
		return cmp.Or(cmp.Compare(x.Start, y.Start), cmp.Compare(rank(x.Kind), rank(y.Kind)))
	})
	return a
}

// rank puts an attempt before the votes that begin with it.
func rank(kind string) int {
	if kind == kinds[Vote] {
		return 1
	}
	return 0
}
