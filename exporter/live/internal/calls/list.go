package calls

// list links entries in the order they were added. It is guarded by the mutex of
// its shard, and unlike a map it takes no memory for what has left it.
type list[T any] struct {
	first, last *entry[T]
	n           int
}

// entry is embedded in what a list has. It is in one list at most.
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

// copy appends the first so many of a list.
func (l *list[T]) copy(to []T, limit int) []T {
	for e := l.first; e != nil && limit > 0; e = e.after {
		to = append(to, e.of)
		limit--
	}
	return to
}
