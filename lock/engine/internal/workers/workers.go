// Package workers has goroutines with an owner.
package workers

import (
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock/internal/spare"
)

const (
	// maxIdleWorkers is how many goroutines are kept for later. A goroutine that
	// has called into a driver once has a stack deep enough for the next call; growing
	// it each time costs a fifth of an acquire.
	maxIdleWorkers = 64
	// spareInterval is how often one of them may end because the calls since were run without it.
	spareInterval = time.Second
)

// Workers own goroutines: they run calls until they are closed, and close waits
// for every one of them.
type Workers struct {
	calls chan func() // unbuffered: only an idle worker receives
	quit  chan struct{}

	mu     sync.Mutex
	closed bool
	idle   int
	watch  spare.Watch
	wg     sync.WaitGroup
}

// New makes workers. Goroutines start with the calls.
func New() *Workers {
	return &Workers{calls: make(chan func()), quit: make(chan struct{}), watch: spare.Watch{Every: spareInterval}}
}

// Run starts call on a worker unless they are closed. It reports whether it did.
func (w *Workers) Run(call func()) bool {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return false
	}
	if w.idle > 0 {
		w.idle--
		w.watch.Took(w.idle)
		w.mu.Unlock()
		w.calls <- call // an idle worker waits for it, or is about to
		return true
	}
	w.wg.Add(1)
	w.mu.Unlock()
	go w.work(call)
	return true
}

// Lend runs call on the goroutine of its caller, unless they are closed. It reports whether
// it did.
func (w *Workers) Lend(call func()) bool {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return false
	}
	w.wg.Add(1)
	w.mu.Unlock()
	defer w.wg.Done()
	call()
	return true
}

// work runs calls as long as there are any and the worker is worth keeping.
func (w *Workers) work(call func()) {
	defer w.wg.Done()
	for {
		call()
		w.mu.Lock()
		if w.closed || w.idle >= maxIdleWorkers || w.watch.Spare(w.idle) {
			w.mu.Unlock()
			return
		}
		w.idle++
		w.mu.Unlock()
		if call = w.next(); call == nil {
			return
		}
	}
}

// next waits for a call that run promised to an idle worker; nil when closed.
func (w *Workers) next() func() {
	select {
	case call := <-w.calls:
		return call
	case <-w.quit:
	}
	w.mu.Lock()
	if w.idle > 0 {
		w.idle--
		w.mu.Unlock()
		return nil
	}
	w.mu.Unlock()
	return <-w.calls // every worker still waiting was promised one
}

// Close lets no more start and waits for those that run. It may be called once.
func (w *Workers) Close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	close(w.quit)
	w.wg.Wait()
}
