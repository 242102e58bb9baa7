package main

import (
	"context"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// board knows who waits for what, from the trace hooks alone: a service that is
// watched does nothing for it.
type board struct {
	mu      sync.Mutex
	waiting map[*waiter]struct{}
}

// waiter is one Acquire that could not be served at once.
type waiter struct {
	instance string
	resource string
	since    time.Time
	kind     lock.WaitKind
	blocker  *lock.HeldError // as of the last attempt; nil behind callers of the same process
	looked   time.Time       // when that was
}

type waiterKey struct{}

func newBoard() *board { return &board{waiting: make(map[*waiter]struct{})} }

// watch returns a context in which the waits of instance show on the board.
func (b *board) watch(ctx context.Context, instance string) context.Context {
	return lock.WithTrace(ctx, &lock.Trace{
		AcquireStart: func(ctx context.Context, e lock.AcquireStart) context.Context {
			w := &waiter{instance: instance, resource: e.Resource, since: time.Now()}
			return context.WithValue(ctx, waiterKey{}, w)
		},
		WaitStart: func(ctx context.Context, e lock.WaitStart) context.Context {
			b.put(ctx, e.Kind, e.Blocker)
			return ctx
		},
		AcquireEnd: func(ctx context.Context, _ lock.AcquireEnd) { b.remove(ctx) },
	})
}

func (b *board) put(ctx context.Context, kind lock.WaitKind, blocker *lock.HeldError) {
	w, _ := ctx.Value(waiterKey{}).(*waiter)
	if w == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	w.kind = kind
	if blocker != nil {
		w.blocker, w.looked = blocker, time.Now()
	}
	b.waiting[w] = struct{}{}
}

func (b *board) remove(ctx context.Context) {
	w, _ := ctx.Value(waiterKey{}).(*waiter)
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.waiting, w)
}

// longest returns how many wait and a copy of who has waited longest, with the
// freshest news of what blocks the resource: only one caller a process looks.
func (b *board) longest() (n int, longest waiter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for w := range b.waiting {
		if longest.since.IsZero() || w.since.Before(longest.since) {
			longest = *w
		}
	}
	for w := range b.waiting {
		if w.resource == longest.resource && w.looked.After(longest.looked) {
			longest.blocker, longest.looked = w.blocker, w.looked
		}
	}
	return len(b.waiting), longest
}

// blockedBy names the holder and says how long it has been holding.
func (w waiter) blockedBy() (who, since string) {
	switch {
	case w.kind == lock.WaitBackoff:
		return "(no quorum)", ""
	case w.blocker == nil:
		return "", ""
	case w.blocker.HandedOver:
		return "(hand-over)", ""
	case w.blocker.Holder.Instance == "":
		return "(unknown)", ""
	}
	return w.blocker.Holder.Instance, short(time.Since(w.blocker.Holder.Since))
}
