package top

import (
	"context"
	"sync"
)

// task does one thing at a time in the background and keeps the last result.
type task[T any] struct {
	run func(context.Context) T

	mu   sync.Mutex
	last T
	done chan struct{} // closed when the run under way has ended; nil: none is
}

func newTask[T any](first T, run func(context.Context) T) *task[T] {
	return &task[T]{run: run, last: first}
}

// start begins a run unless one is under way. workers counts it.
func (t *task[T]) start(life context.Context, workers *sync.WaitGroup) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.done != nil {
		return
	}
	done := make(chan struct{})
	t.done = done
	workers.Go(func() {
		defer close(done)
		result := t.run(life)
		t.mu.Lock()
		defer t.mu.Unlock()
		t.last, t.done = result, nil
	})
}

// wait returns when no run is under way, or ctx ends.
func (t *task[T]) wait(ctx context.Context) {
	t.mu.Lock()
	done := t.done
	t.mu.Unlock()
	if done == nil {
		return
	}
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// latest is the result of the last run that has ended, and whether no run is under way.
func (t *task[T]) latest() (result T, idle bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last, t.done == nil
}
