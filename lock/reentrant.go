package lock

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Reentrant returns a Locker whose caller can acquire a resource again while holding it.
// Acquire with a context that descends from the lease's Context returns another handle on that
// lease, at once and without any command. The lease is released with its last handle.
//
// A reader of a read/write lock can re-enter only as a reader. If it asks for another mode, the call goes to next, which
// refuses ModeWrite with rwlock.ErrUpgrade. A writer can also re-enter as a reader.
//
// The context alone decides who re-enters, not the goroutine. When Acquire re-enters, it ignores its other options. The
// new handle's Context descends from the context given to Acquire, and also ends with the lease. Until the handle is
// released, its Extend extends the shared lease; afterwards its Remaining is 0. If the context's lease is over, Acquire
// goes to next. With a nil next, it fails with ErrInvalidOption.
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
	mode  Mode

	mu      sync.Mutex
	handles int
}

func (r *reentrant) Acquire(ctx context.Context, resource string, opts ...AcquireOption) (Lease, error) {
	if r.next == nil {
		return nil, noLocker(resource)
	}
	if e, ok := ctx.Value(entryKey{r, resource}).(*entry); ok && e.admits(opts) && e.join() {
		return e.handle(ctx), nil
	}
	lease, err := r.next.Acquire(ctx, resource, opts...)
	if err != nil {
		return nil, err
	}
	key := entryKey{r, lease.Resource()} // the slot that a semaphore's caller got, not the one that it asked for first
	e := &entry{lease: lease, mode: NewAcquireOptions(opts...).Mode, handles: 1}
	return &handle{Lease: lease, entry: e, ctx: context.WithValue(lease.Context(), key, e), end: func() {}}, nil
}

// admits reports whether the lease is all that the options ask for. A reader's is not if they ask for another mode.
func (e *entry) admits(opts []AcquireOption) bool {
	return e.mode != ModeRead || NewAcquireOptions(opts...).Mode == ModeRead
}

// handle returns another handle, which ends with the lease: ctx may descend from the context of the lease
// without its end, as from [AcquireDetached].
func (e *entry) handle(ctx context.Context) *handle {
	inner, cancel := context.WithCancelCause(ctx)
	leave := context.AfterFunc(e.lease.Context(), func() { cancel(context.Cause(e.lease.Context())) })
	return &handle{Lease: e.lease, entry: e, ctx: inner, end: func() {
		leave()
		cancel(ErrReleased)
	}}
}

// join adds a handle unless the lease is over. The timer that ends its context may be late.
func (e *entry) join() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.handles == 0 || e.lease.Context().Err() != nil || e.lease.Remaining() <= 0 {
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
	entry *entry
	ctx   context.Context
	end   func() // ends ctx; not that of the first handle, from which the others descend

	released atomic.Bool
	once     sync.Once
	err      error
}

func (h *handle) Context() context.Context { return h.ctx }

// over returns why the handle has ended, or nil.
func (h *handle) over() error {
	if h.released.Load() {
		return ErrReleased
	}
	return context.Cause(h.ctx)
}

func (h *handle) Remaining() time.Duration {
	if h.over() != nil {
		return min(0, h.Lease.Remaining())
	}
	return h.Lease.Remaining()
}

func (h *handle) Extend(ctx context.Context) error {
	if err := h.over(); err != nil {
		return fmt.Errorf("lock: lease of %q is over: %w", h.Resource(), err)
	}
	return h.Lease.Extend(ctx)
}

// Release ends this handle. The last one releases the lease; the others return nil.
func (h *handle) Release(ctx context.Context) error {
	h.once.Do(func() {
		h.released.Store(true)
		if h.entry.part() {
			h.err = h.Lease.Release(ctx)
		}
		h.end()
	})
	return h.err
}
