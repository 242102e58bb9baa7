package engine

import (
	"context"
	"sync"
)

// callQueue keeps the calls about one resource on one node in order: a release never
// overtakes the acquire it undoes, nor an acquire the release before it. One call is
// under way at a time.
type callQueue struct {
	of *resourceQueue // told each time the queue runs empty; may be nil

	mu      sync.Mutex
	busy    bool
	waiting []queuedCall
}

// queuedCall is a call whose turn comes: start hands it over, and whoever gets its
// answer calls next.
type queuedCall interface{ start(wait waiter) }

// waiter is a caller that has nothing to do but wait for the answer, until its context
// ends: see driver.Call. The zero value is none.
type waiter struct{ ctx context.Context }

// do starts call now, or after the calls already under way.
func (q *callQueue) do(call queuedCall) { q.doWaiting(call, waiter{}) }

// doWaiting is do for a caller that only waits.
func (q *callQueue) doWaiting(call queuedCall, wait waiter) {
	q.mu.Lock()
	if q.busy {
		q.waiting = append(q.waiting, call)
		q.mu.Unlock()
		return
	}
	q.busy = true
	q.mu.Unlock()
	call.start(wait)
}

// next says that the call under way is answered, and starts the one behind it.
func (q *callQueue) next() {
	q.mu.Lock()
	if len(q.waiting) > 0 {
		call := q.waiting[0]
		q.waiting = q.waiting[1:]
		q.mu.Unlock()
		call.start(waiter{})
		return
	}
	q.busy, q.waiting = false, nil
	q.mu.Unlock()
	if q.of != nil {
		q.of.all.forget(q.of)
	}
}

func (q *callQueue) isBusy() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.busy
}
