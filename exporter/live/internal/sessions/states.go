package sessions

import "strings"

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
