package fleet

import (
	"cmp"
	"slices"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/records"
)

// joinSlots makes one row of the slots of each semaphore, which stands where its first slot stood. Callers are in the
// queue of one slot and go on with the first that is free, so no single holder is in their way.
func joinSlots(rows []Row) (all []Row) {
	at, semaphoreOf := make(map[place]int), make(map[place]string)
	for i := range rows {
		if name, ok := records.SemaphoreOf(rows[i].Name); ok && rows[i].Kind == lock.KindSemaphore {
			semaphoreOf[place{rows[i].Set, rows[i].Name}] = name
		}
	}
	for _, r := range rows {
		if !r.Deadlock {
			r.endChain(semaphoreOf)
		}
		name := semaphoreOf[place{r.Set, r.Name}]
		if name == "" {
			all = append(all, r)
			continue
		}
		r.slotAlone(name)
		if i, known := at[place{r.Set, name}]; known {
			all[i].join(&r)
			continue
		}
		at[place{r.Set, name}] = len(all)
		all = append(all, r)
	}
	return all
}

// endChain ends the chain at the first semaphore in it.
func (r *Row) endChain(semaphoreOf map[place]string) {
	for i, link := range r.Chain {
		if name := semaphoreOf[place{r.Set, link.Resource}]; name != "" {
			r.Chain = append(r.Chain[:i:i], Link{Resource: name, For: link.For, AnySlot: true})
			return
		}
	}
}

// slotAlone makes of the row of a slot one of its semaphore.
func (r *Row) slotAlone(semaphore string) {
	if r.Holder != nil && !slices.ContainsFunc(r.Taken, func(s HeldSlot) bool { return s.Resource == r.Name }) {
		r.Taken = append(r.Taken, HeldSlot{Lock: *r.Holder})
	}
	for i := range r.Taken {
		if len(r.Chain) > 0 && r.Taken[i].Resource == r.Name {
			r.Taken[i].WaitsFor = r.Chain[0].Resource
		}
	}
	if !r.Deadlock {
		r.Chain = nil
	}
	if r.Slots == 1 && !r.OnlyPages { // nobody reads the others of one
		r.InUse = len(r.Taken)
	}
	r.Name, r.Holder = semaphore, nil
}

// join adds the row of another slot.
func (r *Row) join(other *Row) {
	if other.Callers > r.Callers {
		r.Class = other.Class
	}
	for _, slot := range other.Taken {
		i := slices.IndexFunc(r.Taken, func(s HeldSlot) bool { return s.Resource == slot.Resource })
		if i < 0 {
			r.Taken = append(r.Taken, slot)
		} else {
			r.Taken[i].WaitsFor = cmp.Or(r.Taken[i].WaitsFor, slot.WaitsFor)
		}
	}
	if r.InUse = max(r.InUse, other.InUse); r.InUse >= 0 {
		r.InUse = len(r.Taken)
	}
	slices.SortFunc(r.Taken, func(a, b HeldSlot) int { return cmp.Compare(a.Number(), b.Number()) })
	r.Slots = max(r.Slots, other.Slots)
	r.Callers, r.Processes, r.Unlisted = r.Callers+other.Callers, r.Processes+other.Processes, r.Unlisted+other.Unlisted
	r.Longest = max(r.Longest, other.Longest)
	if other.Deadlock && !r.Deadlock {
		r.Deadlock, r.Chain = true, other.Chain
	}
	r.Waiters = append(r.Waiters, other.Waiters...)
	slices.SortStableFunc(r.Waiters, func(a, b Process) int { return cmp.Compare(b.Waited, a.Waited) })
	r.addRate(other.Rate, other.HeldP99)
	r.OnlyPages = r.OnlyPages && other.OnlyPages
}
