package screen

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/records"
)

// JoinSlots makes one row of the slots of each semaphore, which stands where its first slot stood. Callers are in the
// queue of one slot and go on with the first that is free, so no single holder is in their way. Classify comes first.
func (s *Set) JoinSlots() {
	at, semaphoreOf := make(map[string]int), make(map[string]string)
	for i := range s.Resources {
		if name, ok := records.SemaphoreOf(s.Resources[i].Name); ok && s.Resources[i].Kind == lock.KindSemaphore {
			semaphoreOf[s.Resources[i].Name] = name
		}
	}
	var all []Resource
	for _, r := range s.Resources {
		if !r.Deadlock {
			r.Chain = chainTo(r.Chain, semaphoreOf)
		}
		name := semaphoreOf[r.Name]
		if name == "" {
			all = append(all, r)
			continue
		}
		r.slotAlone(name)
		if i, known := at[name]; known {
			all[i].join(&r)
			continue
		}
		at[name] = len(all)
		all = append(all, r)
	}
	s.Resources = all
}

// chainTo ends a chain at the first semaphore in it.
func chainTo(chain []Link, semaphoreOf map[string]string) []Link {
	for i, link := range chain {
		if name := semaphoreOf[link.Resource]; name != "" {
			return append(slices.Clone(chain[:i]), Link{Resource: name, For: link.For, AnySlot: true})
		}
	}
	return chain
}

// slotAlone makes of the row of a slot one of its semaphore.
func (r *Resource) slotAlone(semaphore string) {
	if r.Holder != nil && !slices.ContainsFunc(r.Taken, func(s Slot) bool { return s.Resource == r.Name }) {
		r.Taken = append(r.Taken, Slot{Lock: *r.Holder})
	}
	r.Taken = slices.Clone(r.Taken)
	for i := range r.Taken {
		if len(r.Chain) > 0 && r.Taken[i].Resource == r.Name {
			r.Taken[i].WaitsFor = r.Chain[0].Resource
		}
	}
	if !r.Deadlock {
		r.Chain = nil
	}
	if r.Slots == 1 { // nobody reads the others of one
		r.InUse = len(r.Taken)
	}
	r.Name, r.Holder = semaphore, nil
}

// join adds the row of another slot.
func (r *Resource) join(other *Resource) {
	if other.Callers > r.Callers {
		r.Class = other.Class
	}
	for _, slot := range other.Taken {
		i := slices.IndexFunc(r.Taken, func(s Slot) bool { return s.Resource == slot.Resource })
		if i < 0 {
			r.Taken = append(r.Taken, slot)
		} else {
			r.Taken[i].WaitsFor = cmp.Or(r.Taken[i].WaitsFor, slot.WaitsFor)
		}
	}
	if r.InUse = max(r.InUse, other.InUse); r.InUse >= 0 {
		r.InUse = len(r.Taken)
	}
	slices.SortFunc(r.Taken, func(a, b Slot) int { return cmp.Compare(a.Number(), b.Number()) })
	r.Slots = max(r.Slots, other.Slots)
	r.Callers, r.Processes, r.Unlisted = r.Callers+other.Callers, r.Processes+other.Processes, r.Unlisted+other.Unlisted
	r.Longest = max(r.Longest, other.Longest)
	if other.Deadlock && !r.Deadlock {
		r.Deadlock, r.Chain = true, other.Chain
	}
	r.Waiters = append(slices.Clone(r.Waiters), other.Waiters...)
	slices.SortStableFunc(r.Waiters, func(a, b Waiter) int { return cmp.Compare(b.Waited, a.Waited) })
	r.AddRate(other.Rate, other.HeldP99)
	r.OnlyPages = r.OnlyPages && other.OnlyPages
}

// Number is that of the slot.
func (s *Slot) Number() int {
	_, slot, _ := records.ParseSlot(s.Resource)
	return slot
}

// Holders are the processes that have the slots of a semaphore, or that read a read/write lock, each once.
func (r *Resource) Holders() (names []string) {
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for i := range r.Taken {
		add(nameOf(&r.Taken[i].Lock))
	}
	for i := range r.ReadBy {
		add(nameOf(&r.ReadBy[i]))
	}
	return names
}

// AddRate adds what another page says of the resource; a page that says nothing adds nothing.
func (r *Resource) AddRate(rate *float64, p99 *time.Duration) {
	if r.Rate == nil || rate == nil {
		r.Rate = cmp.Or(r.Rate, rate)
	} else {
		r.Rate = new(*r.Rate + *rate)
	}
	if r.HeldP99 == nil || p99 != nil && *p99 > *r.HeldP99 {
		r.HeldP99 = p99
	}
}
