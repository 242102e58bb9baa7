// Package longwait tracks the waiting calls of a process and reports each that waits for long.
package longwait

import (
	"github.com/lockscope/lockscope/lock/locktrace"
	"sync"
	"sync/atomic"
	"time"
)

// Watch tracks the calls of one decorator. It is safe for concurrent use.
type Watch struct {
	after     time.Duration // zero or less: no wait is long
	remembers bool

	mu         sync.Mutex
	byResource map[string]*waiters
}

// waiters are the calls that wait for a resource.
type waiters struct {
	calls map[*Wait]time.Time // when each began
	last  locktrace.WaitStart // of the call that asked the nodes last; zero until one did
}

// New makes an empty Watch. remember is true if State will be called.
func New(after time.Duration, remember bool) *Watch {
	return &Watch{after: after, remembers: remember && after > 0, byResource: make(map[string]*waiters)}
}

// Wait is the wait of one call. Its zero value has not begun. It must not be copied.
type Wait struct {
	waited atomic.Bool

	mu    sync.Mutex
	timer *time.Timer // nil until the first wait
	again bool        // it was reported again
	over  bool        // Acquire is about to return
}

// Waiter is a call that waits.
type Waiter interface {
	// WaitsLong is called in a goroutine of its own while the call waits: at first after the time of New, then again
	// after each of Again.
	WaitsLong(again bool)
}

// Again returns when a long wait is reported again, counted from its beginning.
func Again() []time.Duration { return []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute} }

// Begin makes sure that a long wait is reported while it still goes on. began is when the call began.
func (w *Watch) Begin(wait *Wait, began time.Time, who Waiter) {
	if w.after <= 0 {
		return
	}
	wait.waited.Store(true)
	wait.mu.Lock()
	defer wait.mu.Unlock()
	if wait.timer == nil && !wait.over {
		wait.timer = time.AfterFunc(w.after-time.Since(began), func() { wait.long(who, began, w.after, false) })
	}
}

// long reports a wait that has lasted for so long, and goes on to the next time to report it.
func (w *Wait) long(who Waiter, began time.Time, lasted time.Duration, again bool) {
	w.mu.Lock()
	if w.over {
		w.mu.Unlock()
		return
	}
	w.again = again
	for _, next := range Again() {
		if next > lasted {
			w.timer = time.AfterFunc(next-time.Since(began), func() { w.long(who, began, next, true) })
			break
		}
	}
	w.mu.Unlock()
	who.WaitsLong(again)
}

// goesOn reports whether the call waits: it has begun to, and Acquire has not returned.
func (w *Wait) goesOn() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.timer != nil && !w.over
}

// Note records the beginning of a wait. The call waits from its first one until End.
func (w *Watch) Note(wait *Wait, resource string, began time.Time, e locktrace.WaitStart) {
	if !w.remembers || !wait.goesOn() {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.byResource[resource]
	if all == nil {
		all = &waiters{calls: make(map[*Wait]time.Time)}
		w.byResource[resource] = all
	}
	all.calls[wait] = began
	if e.Kind != locktrace.WaitLocal {
		all.last = e
	}
}

// End ends the waits of a call for good. It returns true if the wait was reported again, so that its end is worth a
// report.
func (w *Watch) End(wait *Wait, resource string) (again bool) {
	if !wait.waited.Load() {
		return false
	}
	again = wait.end()
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.byResource[resource]
	if all == nil {
		return again
	}
	if delete(all.calls, wait); len(all.calls) == 0 {
		delete(w.byResource, resource)
	}
	return again
}

func (w *Wait) end() (again bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	again = w.again && !w.over
	w.over = true
	if w.timer != nil {
		w.timer.Stop()
	}
	return again
}

// State describes all waits for a resource.
type State struct {
	Count   int
	Longest time.Duration
	Last    locktrace.WaitStart // of the call that asked the nodes last
	Known   bool                // one did
}

// State returns the state of a resource. It is zero unless the Watch remembers.
func (w *Watch) State(resource string) (s State) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.byResource[resource]
	if all == nil {
		return s
	}
	s.Count, s.Last, s.Known = len(all.calls), all.last, all.last.Kind != ""
	for _, began := range all.calls {
		s.Longest = max(s.Longest, time.Since(began))
	}
	return s
}
