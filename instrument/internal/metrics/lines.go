package metrics

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/decorate"
)

// Owner is a decorator that counts its calls here. Its calls for one resource queue in one line of their process.
type Owner struct {
	Label func(resource string) string // computes the label of a resource; label.Fold does if it is nil or returns ""
}

// lines are the calls that wait for their turn in this process, by resource. The resources have one label value.
type lines struct {
	n atomic.Int32 // of lines: without any, a call needs no mutex

	mu sync.Mutex
	of map[string][]*line // by resource
}

// line is the calls of one decorator for one resource that are counted in one series.
type line struct {
	*decorate.Line
	of lineKey
}

type lineKey struct {
	lockKey
	series *series
}

// lockKey is a lock whose callers in this process queue behind each other.
type lockKey struct {
	resource string // that was asked for
	keyspace string // of the set of nodes; "" without hooks
	owner    *Owner
}

// shared is the lock for all decorators on one set of nodes: they have the same locks.
func (k lockKey) shared() lockKey {
	if k.keyspace != "" {
		k.owner = nil
	}
	return k
}

func (c *Call) lineKey() lineKey { return lineKey{c.lockKey, c.series} }

// join adds a call that waits.
func (l *lines) join(c *Call, now time.Time, front func() (*lock.HeldError, error)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drop(c, now) // it is in one only if the wait before has not ended
	c.line = l.find(c.lineKey())
	c.line.Join(now, front)
}

// leave ends the wait of a call, and reports whether it was in a line.
func (l *lines) leave(c *Call, now time.Time) bool {
	if l.n.Load() == 0 {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.drop(c, now)
}

// look is for an event after which the calls that wait for a resource may wait for something else.
func (l *lines) look(resource string, now time.Time) {
	if l.n.Load() == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.of[resource] {
		line.Look(now)
	}
}

// charge charges all time until now.
func (l *lines) charge(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, all := range l.of {
		for _, line := range all {
			line.Charge(now)
		}
	}
}

// find makes a line if there is none. The mutex must be held.
func (l *lines) find(of lineKey) *line {
	for _, line := range l.of[of.resource] {
		if line.of == of {
			return line
		}
	}
	if l.of == nil {
		l.of = make(map[string][]*line)
	}
	charge := func(s decorate.LineStretch) { of.series.charge(s.Stretch) }
	added := &line{decorate.NewLine(charge, nil), of}
	l.of[of.resource] = append(l.of[of.resource], added)
	l.n.Add(1)
	return added
}

// drop removes a call from its line, and a line without calls. The mutex must be held.
func (l *lines) drop(c *Call, now time.Time) bool {
	left := c.line
	if left == nil {
		return false
	}
	c.line = nil
	left.Leave(now)
	if !left.Empty() {
		return true
	}
	l.n.Add(-1)
	resource := left.of.resource
	rest := slices.DeleteFunc(l.of[resource], func(other *line) bool { return other == left })
	if l.of[resource] = rest; len(rest) == 0 {
		delete(l.of, resource)
	}
	return true
}
