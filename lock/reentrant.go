package lock

import (
	"context"
	"sync"
)

// Reentrant returns a Locker whose caller can acquire a resource again while holding it.
// Acquire with a context that descends from the lease's Context returns another handle on that
// lease, at once and without any command. The lease is released with its last handle.
//
// A reader of a read/write lock re-enters as a reader only. What it asks for otherwise goes to next, which refuses a
// writer with [ErrUpgrade]. A writer re-enters as a reader, too.
//
// The context alone decides who re-enters, not the goroutine. When Acquire re-enters, it
// ignores its other options. The new handle's Context descends from the context given to Acquire, and
// its Extend extends the shared lease. If the context's lease is over, Acquire goes to next.
func Reentrant(next Locker) Locker { return &reentrant{next: next} }

type reentrant struct{ next Locker }

// entryKey is the context key of a lease; each Reentrant finds only its own.
type entryKey struct {
	locker   *reentrant
	resource string
}

// entry is a lease with the number of its open handles.
type entry struct {
	lease Lease
	kind  Kind

	mu      sync.Mutex
	handles int
}

// Shares returns nil if next has read/write locks; see [Shares].
func (r *reentrant) Shares() error { return Shares(r.next) }

func (r *reentrant) Acquire(ctx context.Context, resource string, opts ...AcquireOption) (Lease, error) {
	key := entryKey{r, resource}
	if e, ok := ctx.Value(key).(*entry); ok && e.admits(opts) && e.join() {
		inner, cancel := context.WithCancelCause(ctx)
		return &handle{Lease: e.lease, entry: e, ctx: inner, cancel: cancel}, nil
	}
	lease, err := r.next.Acquire(ctx, resource, opts...)
	if err != nil {
		return nil, err
	}
	e := &entry{lease: lease, kind: NewAcquireOptions(opts...).Kind, handles: 1}
	return &handle{Lease: lease, entry: e, ctx: context.WithValue(lease.Context(), key, e)}, nil
}

// admits reports whether the lease is all that the options ask for. A reader's is not if they ask for another kind.
func (e *entry) admits(opts []AcquireOption) bool {
	return e.kind != KindRead || NewAcquireOptions(opts...).Kind == KindRead
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

// part removes a handle. It reports whether it was the last one.
func (e *entry) part() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.handles--
	return e.handles == 0
}

// handle is one acquisition of the shared lease.
type handle struct {
	Lease
	entry  *entry
	ctx    context.Context
	cancel context.CancelCauseFunc // nil for the first handle: its context is the lease's

	once sync.Once
	err  error
}

func (h *handle) Context() context.Context { return h.ctx }

// Release ends this handle. The last one releases the lease; the others return nil.
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
