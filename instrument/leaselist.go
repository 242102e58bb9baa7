package instrument

// leaseList is a list of leases, or of the calls that may become some, in the order in which they were added.
// A lease is in one list at most.
type leaseList struct {
	first, last *lease
	n           int
}

func (l *leaseList) push(m *lease) {
	m.earlier = l.last
	if l.last != nil {
		l.last.later = m
	} else {
		l.first = m
	}
	l.last = m
	l.n++
}

func (l *leaseList) drop(m *lease) {
	if m.later != nil {
		m.later.earlier = m.earlier
	} else {
		l.last = m.earlier
	}
	if m.earlier != nil {
		m.earlier.later = m.later
	} else {
		l.first = m.later
	}
	m.earlier, m.later = nil, nil
	l.n--
}
