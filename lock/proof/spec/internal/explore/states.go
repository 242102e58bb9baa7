package explore

import "hash/maphash"

// chunk is how many states are kept in one piece of memory.
const chunk = 1 << 14

// states is a set of states, each with the index at which it was added. It takes four to
// eight bytes for each beside the state itself, where a map would keep the states twice.
type states[S comparable] struct {
	seed   maphash.Seed
	chunks [][]S
	n      int
	slots  []uint32 // 1 + index of a state, at the place that its hash says or after it; 0 is free
}

func newStates[S comparable]() *states[S] {
	return &states[S]{seed: maphash.MakeSeed(), slots: make([]uint32, 1<<12)}
}

func (t *states[S]) count() int { return t.n }

func (t *states[S]) at(index int) S { return t.chunks[index/chunk][index%chunk] }

// add reports that s was not there before.
func (t *states[S]) add(s S) bool {
	if 4*t.n >= 3*len(t.slots) {
		t.grow()
	}
	slot := t.find(s)
	if t.slots[slot] != 0 {
		return false
	}
	if t.n%chunk == 0 {
		t.chunks = append(t.chunks, make([]S, 0, chunk))
	}
	last := len(t.chunks) - 1
	t.chunks[last] = append(t.chunks[last], s)
	t.n++
	t.slots[slot] = uint32(t.n)
	return true
}

// find is the slot where s is, or belongs.
func (t *states[S]) find(s S) int {
	mask := len(t.slots) - 1
	slot := int(maphash.Comparable(t.seed, s)) & mask
	for t.slots[slot] != 0 && t.at(int(t.slots[slot]-1)) != s {
		slot = (slot + 1) & mask
	}
	return slot
}

func (t *states[S]) grow() {
	t.slots = make([]uint32, 2*len(t.slots))
	for i := range t.n {
		mask := len(t.slots) - 1
		slot := int(maphash.Comparable(t.seed, t.at(i))) & mask
		for t.slots[slot] != 0 {
			slot = (slot + 1) & mask
		}
		t.slots[slot] = uint32(i + 1)
	}
}
