package graph

import (
	"slices"
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/calls"
	"github.com/lockscope/lockscope/exporter/live/internal/text"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/records"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// contention is a resource that calls want.
type contention struct {
	text.ID
	waiters []*calls.Waiter // longest first
	holders []holder        // leases of the Board, latest first
	slots   []holder        // as holders, of the slots of a semaphore, if any of them will do
	blocks  bool            // somebody waits, and is not just making a first attempt
	slot    bool            // of a semaphore that somebody wants, though perhaps not this slot
	heads   map[*calls.Owner]*calls.Waiter
	here    map[string]bool // instances of the waiters, once asked for
}

// holder is a lease of the Board that has not ended.
type holder struct {
	*calls.Lease
	told state.Held
}

func (h *holder) reads() bool { return h.told.Kind == string(lock.KindRead) }

func (c *contention) waitsHere(instance string) bool {
	if c.here == nil {
		c.here = make(map[string]bool)
		for _, w := range c.waiters {
			c.here[w.Owner.Instance] = true
		}
	}
	return c.here[instance]
}

// waits counts the waiters that do not stand by, and returns how long the first of them has waited.
func (c *contention) waits(now time.Time) (calls int, longest time.Duration) {
	for _, w := range c.waiters {
		if !w.StandsBy() {
			calls, longest = calls+1, max(longest, w.Waited(now))
		}
	}
	return calls, longest
}

// holderFor returns the lease that keeps the waiter from the resource: of its own locker, or else the latest of
// another. Of several readers it is the one that began first. Readers do not keep each other from it.
func (c *contention) holderFor(w *calls.Waiter) *holder {
	var other *holder
	for _, all := range [][]holder{c.holders, c.slots} {
		for i := range all {
			h := &all[i]
			switch {
			case h.reads() && w.Hooked && w.Kind != lock.KindRead:
				other = h
			case h.reads():
			case h.Owner == w.Owner:
				return h
			case other == nil && w.Hooked:
				other = h
			}
		}
	}
	return other
}

// toldTo returns the waiter whose refusal counts for w: w itself, or for a waiter in a local queue the caller in
// front, or any caller. It is nil if nobody was refused.
func (c *contention) toldTo(w *calls.Waiter) *calls.Waiter {
	switch {
	case !w.Hooked, w.Doing != locktrace.WaitLocal && w.Blocker == nil:
		return nil
	case w.Doing != locktrace.WaitLocal:
		return w
	}
	if c.heads == nil {
		c.findHeads()
	}
	if own := c.heads[w.Owner]; own != nil {
		return own
	}
	return c.heads[nil]
}

// findHeads finds the callers in front, of each locker and of all.
func (c *contention) findHeads() {
	c.heads = make(map[*calls.Owner]*calls.Waiter)
	for _, w := range c.waiters {
		if w.Doing == locktrace.WaitLocal || w.Blocker == nil {
			continue
		}
		for _, of := range []*calls.Owner{w.Owner, nil} {
			if c.heads[of] == nil {
				c.heads[of] = w
			}
		}
	}
}

// scene is what calls want at one instant.
type scene struct {
	now    time.Time
	wanted map[text.ID]*contention
}

func newScene(l *calls.Look) *scene {
	s := &scene{now: l.Now, wanted: make(map[text.ID]*contention)}
	for i := range l.Waiting {
		w := &l.Waiting[i]
		c := s.want(w.ID())
		c.waiters = append(c.waiters, w)
		c.blocks = c.blocks || w.Waits(s.now)
		if w.Kind == lock.KindSemaphore {
			s.wantSlots(c, w)
		}
	}
	for _, m := range l.Wanted {
		c, of := s.wanted[m.ID()], s.semaphoreOf(m.ID())
		if c == nil && of == nil {
			continue
		}
		told, ok := m.Tell(s.now)
		if ok && c != nil {
			c.holders = append(c.holders, holder{m, told})
		}
		if ok && of != nil && told.Slots > 0 {
			of.slots = append(of.slots, holder{m, told})
		}
	}
	latest := func(x, y holder) int { return y.HeldAt.Compare(x.HeldAt) }
	for _, c := range s.wanted {
		slices.SortStableFunc(c.holders, latest)
		slices.SortStableFunc(c.slots, latest)
	}
	return s
}

// semaphoreOf is what calls want that take any slot of this slot's semaphore; nil if none do.
func (s *scene) semaphoreOf(slot text.ID) *contention {
	if name, _, ok := records.ParseSlot(slot.Resource); ok {
		return s.wanted[text.ID{Backend: slot.Backend, Resource: name}]
	}
	return nil
}

// wantSlots adds the other slots of the semaphore that a waiter wants.
func (s *scene) wantSlots(c *contention, w *calls.Waiter) {
	if c.slot {
		return
	}
	c.slot = true
	for _, slot := range records.SlotsOf(w.Wants(), records.ConstructOf(w.Record())) {
		s.want(text.ID{Backend: w.Backend, Resource: slot}).slot = true
	}
}

func (s *scene) want(of text.ID) *contention {
	c := s.wanted[of]
	if c == nil {
		c = &contention{ID: of}
		s.wanted[of] = c
	}
	return c
}

// isHeld reports whether a lease is still the one on the Board. A lease that a call held when it began to wait may
// have ended.
func (s *scene) isHeld(h lock.HeldLease) bool {
	c := s.wanted[text.ID{Backend: h.Backend, Resource: h.Resource}]
	return c != nil && slices.ContainsFunc(c.holders, func(x holder) bool { return x.told.Fence == h.Fence })
}

// byClass counts the waiters of a resource whose class is known.
func (c *contention) byClass() state.ByClass {
	counts := make(state.ByClass)
	for _, w := range c.waiters {
		if w.Class != "" {
			counts[string(w.Class)]++
		}
	}
	return counts
}

// reading is who reads the resource on this Board, and how many callers here wait to write.
func (c *contention) reading() (of state.Reading) {
	for i := range c.holders {
		if h := &c.holders[i]; h.reads() {
			of.Add(h.told.Holder)
		}
	}
	for _, w := range c.waiters {
		if w.Kind == lock.KindWrite {
			of.Writers++
		}
	}
	slices.Sort(of.ReadBy)
	return of
}

// construct is what the resource is part of, as its holder or a waiter says.
func (c *contention) construct() (of state.Construct) {
	for i := range c.holders {
		if of = c.holders[i].told.Construct; of.Kind != "" {
			return of
		}
	}
	for _, w := range c.waiters {
		if of = w.Construct(); of.Kind != "" {
			return of
		}
	}
	return of
}
