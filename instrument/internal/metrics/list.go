package metrics

import (
	"sync/atomic"
	"time"

	"github.com/lockscope/lockscope/lock/decorate"
)

// entry is a call, or its lease, in a list of its series.
type entry struct {
	lockKey
	got      atomic.Pointer[string] // another slot of the same semaphore, which the lease is on; nil otherwise
	began    time.Time
	waited   time.Duration        // from began until Acquire returned
	progress atomic.Int32         // of the wait
	part     atomic.Pointer[part] // nil for a lock by itself
	clock    decorate.WaitClock

	earlier, later *entry
}

// name is that of the resource that was asked for or, once it is held, of the one that is.
func (e *entry) name() string {
	if got := e.got.Load(); got != nil {
		return *got
	}
	return e.resource
}

// acquired is when the lease was acquired.
func (e *entry) acquired() time.Time { return e.began.Add(e.waited) }

// list has entries in the order in which they were added. An entry is in at most one list.
type list struct {
	first, last *entry
	n           int
}

func (l *list) push(e *entry) {
	e.earlier = l.last
	if l.last != nil {
		l.last.later = e
	} else {
		l.first = e
	}
	l.last = e
	l.n++
}

func (l *list) drop(e *entry) {
	if e.later != nil {
		e.later.earlier = e.earlier
	} else {
		l.last = e.earlier
	}
	if e.earlier != nil {
		e.earlier.later = e.later
	} else {
		l.first = e.later
	}
	e.earlier, e.later = nil, nil
	l.n--
}

// timestamp is in seconds since 1970.
func timestamp(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }
