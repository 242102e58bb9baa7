// Package callqueue keeps calls in order.
package callqueue

import (
	"context"
	"sync"
)

// Queue keeps the calls about one resource on one node in order: a release never
// overtakes the acquire it undoes, nor an acquire the release before it. One call is
// under way at a time.
type Queue struct {
	Owner Owner // told each time the queue runs empty; may be nil

	mu      sync.Mutex
	busy    bool
	waiting []Call
}

// Owner is whose queue it is.
type Owner interface{ Idle() }

// Call is a call whose turn comes: Start hands it over, and the goroutine that gets its
// answer calls Next.
type Call interface{ Start(wait Waiter) }

// Waiter is a caller that has nothing to do but wait for the answer, until its context
// ends: see driver.Call. The zero value is none.
type Waiter struct{ Context context.Context }

// Do starts call now, or after the calls already under way.
func (q *Queue) Do(call Call) { q.DoWaiting(call, Waiter{}) }

// DoWaiting is Do for a caller that only waits.
func (q *Queue) DoWaiting(call Call, wait Waiter) {
	q.mu.Lock()
	if q.busy {
		q.waiting = append(q.waiting, call)
		q.mu.Unlock()
		return
	}
	q.busy = true
	q.mu.Unlock()
	call.Start(wait)
}

// Next says that the call under way is answered, and starts the one behind it.
func (q *Queue) Next() {
	q.mu.Lock()
	if len(q.waiting) > 0 {
		call := q.waiting[0]
		q.waiting = q.waiting[1:]
		q.mu.Unlock()
		call.Start(Waiter{})
		return
	}
	q.busy, q.waiting = false, nil
	q.mu.Unlock()
	if q.Owner != nil {
		q.Owner.Idle()
	}
}

// IsBusy reports that a call is under way.
func (q *Queue) IsBusy() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.busy
}
