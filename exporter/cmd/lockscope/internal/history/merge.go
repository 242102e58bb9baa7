package history

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/records"
)

const (
	maxName    = 1100 // bytes of a name in an answer
	maxWaited  = 1e12 // seconds
	maxClasses = 16
)

// sound checks the numbers of an answer, and cuts its lists and names to size.
func sound(d *state.WaitHistory) bool {
	d.Classes = d.Classes[:min(len(d.Classes), maxClasses)]
	d.Blockers = d.Blockers[:min(len(d.Blockers), state.MaxPast)]
	d.Resources = d.Resources[:min(len(d.Resources), state.MaxPast)]
	ok := d.Waited >= 0 && d.Waited < maxWaited
	buckets := func(waited int, all []int) {
		ok = ok && waited >= 0 && waited < maxWaited && len(all) == d.Buckets &&
			!slices.ContainsFunc(all, func(n int) bool { return n < 0 || n > maxWaited })
	}
	d.Instance = clip(d.Instance)
	for i := range d.Classes {
		c := &d.Classes[i]
		c.Class = clip(c.Class)
		buckets(c.Waited, c.Buckets)
	}
	for i := range d.Blockers {
		b := &d.Blockers[i]
		b.Holder, b.CallSite = clip(b.Holder), clip(b.CallSite)
		b.Resources, b.Waiters, b.WaitsFor = clipParts(b.Resources), clipParts(b.Waiters), clipParts(b.WaitsFor)
		buckets(b.Waited, b.Buckets)
	}
	for i := range d.Resources {
		r := &d.Resources[i]
		r.Resource, r.Backend, r.Blockers = clip(r.Resource), clip(r.Backend), clipParts(r.Blockers)
		buckets(r.Waited, r.Buckets)
		ok = ok && len(r.Classes) <= maxClasses
	}
	return ok
}

func clip(s string) string { return strings.ToValidUTF8(s[:min(len(s), maxName)], "") }

func clipParts(all []state.WaitedPart) []state.WaitedPart {
	all = all[:min(len(all), state.MaxParts)]
	for i := range all {
		p := &all[i]
		p.Resource, p.Backend, p.Instance, p.CallSite = clip(p.Resource), clip(p.Backend), clip(p.Instance),
			clip(p.CallSite)
	}
	return all
}

// finish adds up what the pages say.
func (r *report) finish() {
	r.CompleteFrom = r.From
	if r.read() == 0 {
		r.CompleteFrom = r.To
	}
	for i := range r.all {
		d := &r.all[i]
		if d.CompleteFrom.After(r.CompleteFrom) {
			r.CompleteFrom = d.CompleteFrom
		}
		r.Waited += d.Waited
		r.Omitted.Blockers += d.Omitted.Blockers
		r.Omitted.Resources += d.Omitted.Resources
		for _, c := range d.Classes {
			r.addClass(c)
		}
		for _, b := range d.Blockers {
			r.addBlocker(b)
		}
		for _, p := range d.Resources {
			r.addResource(p)
		}
	}
	byWaited := func(a, b int) int { return cmp.Compare(b, a) }
	slices.SortStableFunc(r.Classes, func(a, b state.WaitedClass) int { return byWaited(a.Waited, b.Waited) })
	slices.SortStableFunc(r.Blockers, func(a, b blocker) int { return byWaited(a.Waited, b.Waited) })
	for i := range r.Blockers {
		r.Blockers[i].Process = r.meanwhile(&r.Blockers[i].PastBlocker)
	}
	slices.SortStableFunc(r.Resources, func(a, b state.PastResource) int { return byWaited(a.Waited, b.Waited) })
	slices.SortStableFunc(r.Pages, func(a, b readPage) int { return strings.Compare(a.Page, b.Page) })
}

func (r *report) addClass(c state.WaitedClass) {
	i := slices.IndexFunc(r.Classes, func(k state.WaitedClass) bool { return k.Class == c.Class })
	if i < 0 {
		r.Classes = append(r.Classes, c)
		return
	}
	r.Classes[i].Waited += c.Waited
	r.Classes[i].Buckets = sum(r.Classes[i].Buckets, c.Buckets)
}

func (r *report) addBlocker(b state.PastBlocker) {
	i := slices.IndexFunc(r.Blockers, func(k blocker) bool {
		return k.Holder == b.Holder && k.CallSite == b.CallSite
	})
	if i < 0 {
		r.Blockers = append(r.Blockers, blocker{PastBlocker: b})
		return
	}
	k := &r.Blockers[i].PastBlocker
	k.Waited += b.Waited
	k.Buckets = sum(k.Buckets, b.Buckets)
	k.First, k.Last = earlier(k.First, b.First), later(k.Last, b.Last)
	k.Resources, k.Waiters, k.WaitsFor = parts(k.Resources, b.Resources), parts(k.Waiters, b.Waiters),
		parts(k.WaitsFor, b.WaitsFor)
	k.Of = max(k.Of, b.Of, len(k.Resources))
}

// addResource makes one row of the slots of a semaphore: a caller goes on with the first that is free.
func (r *report) addResource(p state.PastResource) {
	if name, ok := records.SemaphoreOf(p.Resource); ok && p.Kind == string(lock.KindSemaphore) {
		p.Resource = name
	}
	i := slices.IndexFunc(r.Resources, func(k state.PastResource) bool {
		return k.Resource == p.Resource && k.Backend == p.Backend
	})
	if i < 0 {
		r.Resources = append(r.Resources, p)
		return
	}
	k := &r.Resources[i]
	if k.Kind == "" {
		k.Kind, k.Slots = p.Kind, p.Slots
	}
	k.Waited += p.Waited
	k.Buckets = sum(k.Buckets, p.Buckets)
	k.First, k.Last = earlier(k.First, p.First), later(k.Last, p.Last)
	k.Blockers = parts(k.Blockers, p.Blockers)
	classes := make(map[string]int)
	for _, all := range []map[string]int{k.Classes, p.Classes} {
		for class, waited := range all {
			classes[class] += waited
		}
	}
	k.Classes = classes
}

// meanwhile returns what the process of a holder waited for while others waited for the holder.
func (r *report) meanwhile(b *state.PastBlocker) (all []state.WaitedPart) {
	for i := range r.all {
		d := &r.all[i]
		if d.Instance != b.Holder {
			continue
		}
		for _, p := range d.Resources {
			part := state.WaitedPart{Resource: p.Resource, Backend: p.Backend}
			own := slices.ContainsFunc(b.Resources, func(held state.WaitedPart) bool {
				return held.Resource == p.Resource && held.Backend == p.Backend
			})
			for at, n := range p.Buckets {
				if b.Buckets[at] > 0 {
					part.Waited += n
				}
			}
			if part.Waited > 0 && !own {
				all = parts(all, []state.WaitedPart{part})
			}
		}
	}
	return all
}
