package sessions

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
