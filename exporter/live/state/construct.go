package state

import (
	"slices"

	"github.com/lockscope/lockscope/lock/engine/records"
)

// Construct says what a lock is part of. It is zero for a lock by itself.
//
// The Fence of an election's holder is the term. Callers that wait for an election are its candidates. The slots of a
// semaphore are the resources NAME#0, NAME#1 and so on.
type Construct struct {
	Kind       string `json:"kind,omitempty"`         // a lock.Kind: election, set, semaphore, read, write
	Slots      int    `json:"slots,omitempty"`        // of the semaphore; zero for other kinds
	SlotsInUse int    `json:"slots_in_use,omitempty"` // slots whose holders the source knows
}

// maxReadBy is how many readers a Reading names at most.
const maxReadBy = 8

// Reading says who reads a read/write lock. It is zero for other locks, and while somebody writes.
type Reading struct {
	Readers int      `json:"readers,omitempty"` // that hold the lock and that the source knows
	ReadBy  []string `json:"read_by,omitempty"` // their instances, each once, at most 8
	Writers int      `json:"writers,omitempty"` // callers that wait to write: readers that come later wait behind them
}

// Add counts one more reader.
func (r *Reading) Add(instance string) {
	r.Readers++
	if len(r.ReadBy) < maxReadBy && instance != "" && !slices.Contains(r.ReadBy, instance) {
		r.ReadBy = append(r.ReadBy, instance)
	}
}

// CountSlots sets SlotsInUse of all slots: how many of their semaphore are in Held, or in Blocked with a holder.
func (s *State) CountSlots() {
	type semaphore struct{ backend, name string }
	inUse := make(map[semaphore]map[int]bool)
	count := func(c Construct, resource, backend string) int {
		if c.Slots == 0 {
			return 0
		}
		name, ok := records.SemaphoreOf(resource)
		if !ok {
			name = resource // of callers that take any slot
		}
		return len(inUse[semaphore{backend, name}])
	}
	note := func(c Construct, resource, backend string) {
		if name, slot, ok := records.ParseSlot(resource); ok && c.Slots > 0 {
			of := semaphore{backend, name}
			if inUse[of] == nil {
				inUse[of] = make(map[int]bool)
			}
			inUse[of][slot] = true
		}
	}
	for _, h := range s.Held {
		note(h.Construct, h.Resource, h.Backend)
	}
	for _, b := range s.Blocked {
		if b.Holder != nil && !b.Holder.HandedOver {
			note(b.Construct, b.Resource, b.Backend)
		}
	}
	for i := range s.Held {
		h := &s.Held[i]
		h.SlotsInUse = count(h.Construct, h.Resource, h.Backend)
	}
	for i := range s.Blocked {
		b := &s.Blocked[i]
		b.SlotsInUse = count(b.Construct, b.Resource, b.Backend)
	}
}

// What every view calls a holder whose lock's value does not name it.
const (
	Unnamed        = "unnamed"
	UnnamedForever = "unnamed, never expires"
)

// HolderName is what views call a holder: its instance, or its substitute.
func HolderName(instance string, neverExpires bool) string {
	switch {
	case instance != "":
		return instance
	case neverExpires:
		return UnnamedForever
	}
	return Unnamed
}
