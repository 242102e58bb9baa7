package sessions

import (
	"math"
	"slices"
	"strings"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// Wait is the state of a waiting call. Names may be empty if they are unknown.
type Wait struct {
	Backend, Resource  string
	Instance, CallSite string         // of the waiter
	Class              locktrace.Wait // "" if unknown, and in a chain
	Kind               lock.Kind      // what the resource is part of; "" in a chain
	Slots              int            // of the semaphore
	Holder, HolderSite string         // instance and call site of the holder that it waits for
	Next               *Wait          // what the holder waits for; nil: nothing known
}

// Other is the resource of waits in states for which there was no room.
const Other = "(others)"

// classes are in the order in which they are shown. The last one is of Lockers that report nothing.
var classes = [...]locktrace.Wait{
	locktrace.WaitHolder, locktrace.WaitNoQuorum, locktrace.WaitQuarantined, locktrace.WaitNetwork, locktrace.WaitBackingOff, "",
}

// packed is a Wait with the numbers of its names. It takes 32 bytes.
type packed struct {
	backend, resource  uint32
	instance, callSite uint32
	holder, holderSite uint32
	next               uint32 // a state; 0: none
	class              uint16
	kind, slots        uint8
}

// kinds are numbered by their place here.
var kinds = [...]lock.Kind{"", lock.KindElection, lock.KindSet, lock.KindSemaphore, lock.KindRead, lock.KindWrite}

func packedOf(w *Wait, next uint32) packed {
	class := slices.Index(classes[:], w.Class)
	if class < 0 {
		class = len(classes) - 1
	}
	return packed{
		class: uint16(class), kind: uint8(max(slices.Index(kinds[:], w.Kind), 0)), next: next,
		slots: uint8(min(w.Slots, math.MaxUint8)),
	}
}

// field is a name of a state.
type field struct {
	id   *uint32
	text string
}

func (s *packed) fields(w *Wait) [6]field {
	return [...]field{
		{&s.backend, w.Backend}, {&s.resource, w.Resource}, {&s.instance, w.Instance}, {&s.callSite, w.CallSite},
		{&s.holder, w.Holder}, {&s.holderSite, w.HolderSite},
	}
}

// states has the states that runs refer to, and their names. It is not safe for concurrent use.
type states struct {
	table[packed]
	names table[string]
	bytes int         // of the names
	room  func() bool // frees some; false if there is nothing to free
}

func newStates(room func() bool) states {
	return states{table: newTable[packed](), names: newTable[string](), room: room}
}

// enter returns the number of a wait's state with a reference for the caller. Without room for a new state, it is the
// state of all others of that class.
func (t *states) enter(w *Wait) uint32 {
	if id, ok := t.try(w, 0); ok {
		return id
	}
	return t.add(&Wait{Resource: Other, Class: w.Class}, 0, true)
}

// try fails if there is no room.
func (t *states) try(w *Wait, depth int) (id uint32, ok bool) {
	var next uint32
	if w.Next != nil && depth < maxDepth {
		if next, ok = t.try(w.Next, depth+1); !ok {
			return 0, false
		}
	}
	id = t.add(w, next, false)
	return id, id != 0
}

// add takes over the caller's reference to next. It returns 0 if there is no room.
func (t *states) add(w *Wait, next uint32, always bool) (id uint32) {
	if id, known := t.lookup(w, next); known {
		t.retain(id)
		t.drop(next)
		return id
	}
	for t.len() >= maxStates && !always {
		if !t.room() {
			t.drop(next)
			return 0
		}
	}
	s := packedOf(w, next)
	for _, f := range s.fields(w) {
		name, ok := t.name(f.text, always)
		if *f.id = name; !ok {
			t.leave(s)
			t.drop(next)
			return 0
		}
	}
	id = t.table.add(s)
	t.retain(id)
	return id
}

// lookup returns the state of a wait that is known.
func (t *states) lookup(w *Wait, next uint32) (id uint32, known bool) {
	s := packedOf(w, next)
	for _, f := range s.fields(w) {
		if *f.id, known = t.names.ids[f.text]; !known {
			return 0, false
		}
	}
	id, known = t.ids[s]
	return id, known
}

// name returns the number of a name with a reference for the caller.
func (t *states) name(text string, always bool) (id uint32, ok bool) {
	id, known := t.names.ids[text]
	for !known && !always && (t.names.len() >= maxNames || t.bytes+len(text) > maxNameBytes) {
		if !t.room() {
			return 0, false
		}
	}
	if !known {
		t.bytes += len(text)
		id = t.names.add(strings.Clone(text))
	}
	t.names.retain(id)
	return id, true
}

// drop ends a reference to a state, and to those that only it refers to.
func (t *states) drop(id uint32) {
	for id != 0 {
		s, last := t.release(id)
		if !last {
			return
		}
		t.leave(s)
		id = s.next
	}
}

// leave releases the names of a state.
func (t *states) leave(s packed) {
	for _, id := range [...]uint32{s.backend, s.resource, s.instance, s.callSite, s.holder, s.holderSite} {
		if id == 0 {
			continue // is there for good
		}
		if text, last := t.names.release(id); last {
			t.bytes -= len(text)
		}
	}
}

// table numbers values, counts the references to each, and reuses the numbers of values without any. The zero value of
// K has number 0 for good.
type table[K comparable] struct {
	ids  map[K]uint32
	all  []K
	refs []uint32
	free []uint32
}

func newTable[K comparable]() table[K] {
	var none K
	return table[K]{ids: map[K]uint32{none: 0}, all: []K{none}, refs: []uint32{1}}
}

// len is how many values have a number.
func (t *table[K]) len() int { return len(t.all) - len(t.free) }

// add numbers a new value, which has no reference yet.
func (t *table[K]) add(k K) uint32 {
	id := uint32(len(t.all))
	if n := len(t.free); n > 0 {
		id, t.free = t.free[n-1], t.free[:n-1]
		t.all[id], t.refs[id] = k, 0
	} else {
		t.all, t.refs = append(t.all, k), append(t.refs, 0)
	}
	t.ids[k] = id
	return id
}

func (t *table[K]) retain(id uint32) { t.refs[id]++ }

// release reports whether that was the last reference, and returns the value, whose number is free now.
func (t *table[K]) release(id uint32) (k K, last bool) {
	if t.refs[id]--; t.refs[id] > 0 {
		return k, false
	}
	k = t.all[id]
	delete(t.ids, k)
	var none K
	t.all[id] = none
	t.free = append(t.free, id)
	return k, true
}
