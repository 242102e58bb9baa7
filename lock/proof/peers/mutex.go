package main

import (
	"context"
	"sync"
)

// mutexPeer is the floor within one process: no server at all.
func mutexPeer() peer {
	return peer{
		name: "sync.Mutex",
		can:  func(w work) bool { return w.contended && w.oneProcess },
		open: func(context.Context, []string) (locker, error) { return new(mutexLocker), nil },
	}
}

// mutexLocker has one mutex: one resource is contended for at a time. It does not hear
// of contexts, as a mutex does not.
type mutexLocker struct{ mu sync.Mutex }

func (l *mutexLocker) Acquire(context.Context, string) (func(context.Context) error, error) {
	l.mu.Lock()
	return func(context.Context) error {
		l.mu.Unlock()
		return nil
	}, nil
}

func (l *mutexLocker) Close() error { return nil }
