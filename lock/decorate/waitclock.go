package decorate

import (
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// WaitClock divides the time of one Acquire among the classes of wait. A decorator starts it with the
// call, passes on the hooks WaitStart and WaitEnd, and charges each [Stretch] that a method returns.
//
// The stretches of a call add up to its duration, apart from waits in a [Line], which has their time.
// Between waits the class is [locktrace.WaitNetwork], except
// that an attempt which follows one without a quorum keeps that class until the nodes decide otherwise:
// nodes that hang make attempts long.
//
// It must not be copied. It is safe for concurrent use, so that [WaitClock.Take] can charge the waits of
// calls that have not returned.
type WaitClock struct {
	mu      sync.Mutex
	running bool
	inLine  bool      // the time of the wait is that of a Line
	since   time.Time // start of the stretch under way
	class   locktrace.Wait
	blocker *lock.HeldError
	front   func() (*lock.HeldError, error) // of a wait behind another caller of the process
}

// Stretch is time that one call spent in one class.
type Stretch struct {
	Class locktrace.Wait
	// Blocker is the holder during the stretch; nil if it is unknown, and in classes other than
	// [locktrace.WaitHolder].
	Blocker *lock.HeldError
	Took    time.Duration
}

// Start starts the clock in the class network, for a call that began then. A clock that was not started
// returns no time: a Locker that calls no hooks does not tell what its callers wait for.
func (c *WaitClock) Start(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running, c.since, c.class = true, now, locktrace.WaitNetwork
}

// WaitStart begins a wait, and returns the stretch before it.
func (c *WaitClock) WaitStart(now time.Time, e locktrace.WaitStart) Stretch {
	class := e.Class()
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.take(now)
	c.class, c.blocker, c.front, c.inLine = class, nil, e.Front, false
	if class == locktrace.WaitHolder {
		c.blocker = e.Blocker
	}
	return s
}

// WaitInLine is WaitStart for a call that joins a [Line], which has the time of this wait: until the next
// WaitStart, WaitEnd or End, the clock returns none.
func (c *WaitClock) WaitInLine(now time.Time, e locktrace.WaitStart) Stretch {
	s := c.WaitStart(now, e)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inLine = true
	return s
}

// WaitEnd ends a wait, and returns its last stretch.
func (c *WaitClock) WaitEnd(now time.Time) Stretch {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.take(now)
	c.inLine = false
	if c.class != locktrace.WaitNoQuorum && c.class != locktrace.WaitQuarantined {
		c.class = locktrace.WaitNetwork
	}
	c.blocker, c.front = nil, nil
	return s
}

// Take returns the stretch under way and begins the next one, in the same class. Of a wait behind
// another caller of the process it first asks what that caller waits for now, but the stretch does not
// say when that changed: a [Line] knows. After End it returns no time.
func (c *WaitClock) Take(now time.Time) Stretch {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.look()
	return c.take(now)
}

// End returns the last stretch and stops the clock. Further calls of all methods return no time.
func (c *WaitClock) End(now time.Time) Stretch {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.take(now)
	c.running, c.front = false, nil
	return s
}

// Class returns the class and the holder at this moment, without a stretch.
func (c *WaitClock) Class() (locktrace.Wait, *lock.HeldError) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.look()
	return c.class, c.blocker
}

// look reads what the caller in front waits for. mu must be held.
func (c *WaitClock) look() {
	if c.front == nil {
		return
	}
	c.class, c.blocker = frontOf(c.front)
}

// take ends the stretch under way. mu must be held.
func (c *WaitClock) take(now time.Time) Stretch {
	s := Stretch{Class: c.class, Blocker: c.blocker}
	if !c.running {
		return s
	}
	if !c.inLine {
		s.Took = max(now.Sub(c.since), 0)
	}
	c.since = now
	return s
}
