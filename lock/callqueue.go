package lock

import "sync"

// callQueue keeps the calls about one resource on one node in order: a release never
// overtakes the acquire it undoes, nor an acquire the release before it.
type callQueue struct {
	idle func() // told each time the queue runs empty

	mu      sync.Mutex
	busy    bool
	waiting []func()
}

// do runs call now, or after the calls already under way. Closed workers drop it.
func (q *callQueue) do(w *workers, call func()) {
	q.mu.Lock()
	if q.busy {
		q.waiting = append(q.waiting, call)
		q.mu.Unlock()
		return
	}
	q.busy = true
	q.mu.Unlock()
	if !w.run(func() { q.work(call) }) {
		q.mu.Lock()
		q.busy = false
		q.mu.Unlock()
	}
}

// doHere is do on the caller's goroutine, if the queue is free.
func (q *callQueue) doHere(w *workers, call func()) {
	q.mu.Lock()
	free := !q.busy
	if free {
		q.busy = true
	}
	q.mu.Unlock()
	if !free {
		q.do(w, call)
		return
	}
	defer q.goOn(w) // whatever a hook of the caller's client does: others wait behind it
	call()
}

// goOn leaves what has queued up meanwhile to the workers.
func (q *callQueue) goOn(w *workers) {
	q.mu.Lock()
	if len(q.waiting) == 0 {
		q.busy = false
		q.mu.Unlock()
		q.idle()
		return
	}
	call := q.waiting[0]
	q.waiting = q.waiting[1:]
	q.mu.Unlock()
	if !w.run(func() { q.work(call) }) {
		q.mu.Lock()
		q.busy, q.waiting = false, nil
		q.mu.Unlock()
	}
}

func (q *callQueue) work(call func()) {
	for call != nil {
		call()
		q.mu.Lock()
		call = nil
		if len(q.waiting) > 0 {
			call, q.waiting = q.waiting[0], q.waiting[1:]
		} else {
			q.busy = false
		}
		q.mu.Unlock()
	}
	q.idle()
}

func (q *callQueue) isBusy() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.busy
}
