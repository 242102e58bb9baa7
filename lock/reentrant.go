package lock

import (
	"context"
	"sync"
)

// Reentrant makes a Locker that a call can enter again while it holds the
// resource: Acquire with a context that descends from a lease's Context returns
// another handle on that lease, at once and without any command. The lease is
// given back when as many handles were released as acquired.
//
// Who re-enters is told by the context alone, not by the goroutine. Options of a
// re-entering Acquire are ignored; its Extend extends the one lease; its Context
// descends from the context it was given. A context whose lease is over does not
// re-enter: Acquire then goes to next.
func Reentrant(next Locker) Locker { return &reentrant{next: next} }

type reentrant struct{ next Locker }

// entryKey finds a lease in a context, apart from those of other Reentrants.
type entryKey struct {
	locker   *reentrant
	resource string
}

// entry is a lease and the handles on it that were not released.
type entry struct {
	lease Lease

	mu      sync.Mutex
	handles int
}

func (r *reentrant) Acquire(ctx context.Context, resource string, opts ...AcquireOption) (Lease, error) {
	key := entryKey{r, resource}
	if e, ok := ctx.Value(key).(*entry); ok && e.join() {
		inner, cancel := context.WithCancelCause(ctx)
		return &handle{Lease: e.lease, entry: e, ctx: inner, cancel: cancel}, nil
	}
	lease, err := r.next.Acquire(ctx, resource, opts...)
	if err != nil {
		return nil, err
	}
	e := &entry{lease: lease, handles: 1}
	return &handle{Lease: lease, entry: e, ctx: context.WithValue(lease.Context(), key, e)}, nil
}

// join adds a handle unless the lease is over.
func (e *entry) join() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.handles == 0 || e.lease.Context().Err() != nil {
		return false
	}
	e.handles++
	return true
}

// part removes a handle. It reports whether that was the last.
func (e *entry) part() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.handles--
	return e.handles == 0
}

// handle is one entering of a lease.
type handle struct {
	Lease
	entry  *entry
	ctx    context.Context
	cancel context.CancelCauseFunc // nil for the first handle: its context is the lease's

	once sync.Once
	err  error
}

func (h *handle) Context() context.Context { return h.ctx }

// Release of a handle that is not the last only ends that handle, and returns nil.
func (h *handle) Release(ctx context.Context) error {
	h.once.Do(func() {
		if h.entry.part() {
			h.err = h.Lease.Release(ctx)
		}
		if h.cancel != nil {
			h.cancel(ErrReleased)
		}
	})
	return h.err
}
