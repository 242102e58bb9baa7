package calls

// list links entries in the order they were added. The mutex of its shard guards it. Unlike a map it keeps no memory
// for removed entries.
type list[T any] struct {
	first, last *entry[T]
	n           int
}

// entry is embedded in the elements of a list. It is in at most one list.
type entry[T any] struct {
	of            T
	in            *list[T]
	before, after *entry[T]
}

func (l *list[T]) add(e *entry[T]) {
	e.in, e.before, e.after = l, l.last, nil
	if l.last == nil {
		l.first = e
	} else {
		l.last.after = e
	}
	l.last = e
	l.n++
}

// remove does nothing if e is in another list or none.
func (l *list[T]) remove(e *entry[T]) {
	if e.in != l {
		return
	}
	if e.before == nil {
		l.first = e.after
	} else {
		e.before.after = e.after
	}
	if e.after == nil {
		l.last = e.before
	} else {
		e.after.before = e.before
	}
	e.in, e.before, e.after = nil, nil, nil
	l.n--
}

// copy appends at most limit elements of a list.
func (l *list[T]) copy(to []T, limit int) []T {
	for e := l.first; e != nil && limit > 0; e = e.after {
		to = append(to, e.of)
		limit--
	}
	return to
}
