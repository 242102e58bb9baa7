package fleet

import (
	"cmp"
	"slices"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/records"
	"github.com/lockscope/lockscope/scanner/listing"
)

// Slot is a slot of a semaphore that is in use.
type Slot struct {
	Slot     int     `json:"slot"`
	Holder   *Holder `json:"holder,omitempty"`    // null: unknown
	WaitsFor string  `json:"waits_for,omitempty"` // the resource that its holder waits for
}

// setConstruct says what a lock on the nodes is part of, and who holds the slots of a semaphore.
func (r *Resource) setConstruct(f *listing.WaitedFor) {
	of := f.Construct()
	r.Kind, r.Slots = of.Kind, of.Slots
	r.setReaders(f)
	if of.Kind != lock.KindSemaphore {
		return
	}
	held := f.Slots
	if r.allRead = held != nil; !r.allRead && f.Lock != nil && f.Lock.Held() {
		held = []listing.Lock{*f.Lock}
	}
	for i := range held {
		name := held[i].Resource
		if _, number, ok := records.ParseSlot(name); ok {
			slot := Slot{Slot: number, Holder: holderOf(&held[i])}
			if len(r.Chain) > 0 && name == f.Resource {
				slot.WaitsFor = r.Chain[0]
			}
			r.Taken = append(r.Taken, slot)
		}
	}
}

// setReaders says who reads a read/write lock, and how many processes wait to write.
func (r *Resource) setReaders(f *listing.WaitedFor) {
	r.Writers = f.Writers()
	if l := f.Lock; l != nil && l.Readers != nil && l.Hold.Kind == lock.KindRead {
		r.Readers, r.Holder = l.Readers.Count, nil
		for _, reader := range l.Readers.First {
			if h := holderOf(&listing.Lock{Hold: reader.Hold}); h != nil {
				r.ReadBy = append(r.ReadBy, *h)
			}
		}
	}
}

// joinSlots makes one resource of the slots of each semaphore: a caller that waits for one goes on with the first that
// is free, so neither a holder nor a chain is in the way of all.
func joinSlots(all []Resource) []Resource {
	type semaphore struct{ name, backend string }
	at := make(map[semaphore]int)
	joined := make([]Resource, 0, len(all))
	for _, r := range all {
		name, ok := records.SemaphoreOf(r.Resource)
		if !ok || r.Kind != lock.KindSemaphore {
			joined = append(joined, r)
			continue
		}
		r.Resource, r.Holder, r.Chain = name, nil, nil
		of := semaphore{name, r.Backend}
		if i, known := at[of]; known {
			joined[i].join(&r)
			continue
		}
		at[of] = len(joined)
		joined = append(joined, r)
	}
	for i := range joined {
		if r := &joined[i]; r.allRead {
			used := len(r.Taken)
			r.SlotsInUse = &used
		}
	}
	return joined
}

// join adds another slot of the same semaphore.
func (r *Resource) join(other *Resource) {
	for _, slot := range other.Taken {
		i := slices.IndexFunc(r.Taken, func(s Slot) bool { return s.Slot == slot.Slot })
		if i < 0 {
			r.Taken = append(r.Taken, slot)
		} else {
			r.Taken[i].WaitsFor = cmp.Or(r.Taken[i].WaitsFor, slot.WaitsFor)
		}
	}
	slices.SortFunc(r.Taken, func(a, b Slot) int { return cmp.Compare(a.Slot, b.Slot) })
	r.Waiting, r.Processes = r.Waiting+other.Waiting, r.Processes+other.Processes
	r.Longest, r.Slots = max(r.Longest, other.Longest), max(r.Slots, other.Slots)
	r.Waiters = append(r.Waiters, other.Waiters...)
	slices.SortStableFunc(r.Waiters, func(a, b Waiter) int { return cmp.Compare(b.Waited, a.Waited) })
	r.OnlyPages, r.allRead = r.OnlyPages && other.OnlyPages, r.allRead || other.allRead
}
