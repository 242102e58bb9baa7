package decorate

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// Ender receives the end of a lease.
type Ender interface {
	// Ended is called once for a lease: after its release, or when its context ends before
	// that. cause is context.Cause of the lease's context: [lock.ErrReleased], why the lease
	// was lost, or nil if the context has not ended. ctx is Release's, or the Call if the
	// lease was not released.
	//
	// It runs inside Release or in a goroutine of its own: return fast. A panic is recovered
	// and logged to slog.Default with its stack.
	Ended(ctx context.Context, cause error)
}

// Lease forwards to the next Locker's lease and reports its end. Embed it in the lease of a decorator and
// replace the methods that do more. It must not be copied. Call Begin first; then it is safe for
// concurrent use.
type Lease struct {
	next    lock.Lease
	call    *Call
	ender   Ender
	user    leaseContext
	watch   *watch
	unwatch func() bool

	released, ended atomic.Bool
}

var _ lock.Lease = (*Lease)(nil)

// Begin makes l forward to next, the result of call c. Unless e is nil, it receives the end of the
// lease. Call Begin once, before any other method.
func (l *Lease) Begin(c *Call, next lock.Lease, e Ender) {
	l.next, l.call, l.ender = next, c, e
	l.user = leaseContext{Context: next.Context(), call: c}
}

// Watch also reports the end of the lease's context, not only the release. From then on Ended may be
// called, even before Watch returns. Call Watch at most once, and not after StartRelease or Release.
func (l *Lease) Watch() {
	defer l.contain()
	w := l.call.layer.watches.Get().(*watch)
	w.lease, l.watch = l, w
	l.unwatch = context.AfterFunc(l.next.Context(), w.run)
}

// Next returns the lease that Begin was given.
func (l *Lease) Next() lock.Lease { return l.next }

// Resource implements lock.Lease.
func (l *Lease) Resource() string { return l.next.Resource() }

// Context implements lock.Lease. It is the next lease's, without the values that the decorator added.
func (l *Lease) Context() context.Context { return &l.user }

// FenceOf returns the fencing token of a lease as its engine knows it. Unlike [lock.Lease].Fence, it does
// not count as the holder's use of the token: decorators that display a token call it.
func FenceOf(l lock.Lease) uint64 {
	for {
		outer, ok := l.(interface{ Next() lock.Lease })
		if !ok {
			return l.Fence()
		}
		l = outer.Next()
	}
}

// Fence implements lock.Lease.
func (l *Lease) Fence() uint64 { return l.next.Fence() }

// Remaining implements lock.Lease.
func (l *Lease) Remaining() time.Duration { return l.next.Remaining() }

// Extend implements lock.Lease. Hooks find the call.
func (l *Lease) Extend(ctx context.Context) error {
	return l.next.Extend(&CallContext{Context: ctx, Call: l.call})
}

// Release implements lock.Lease. Hooks find the call. The end is reported when the next lease's Release
// has returned, with or without an error.
func (l *Lease) Release(ctx context.Context) error {
	inside := &CallContext{Context: ctx, Call: l.call}
	if !l.StartRelease() {
		return l.next.Release(inside)
	}
	err := l.next.Release(inside)
	l.End(ctx)
	return err
}

// StartRelease stops watching, and reports whether this was its first call. A Release that replaces
// Lease's calls it first, and calls End later if it returned true.
func (l *Lease) StartRelease() bool {
	if !l.released.CompareAndSwap(false, true) {
		return false
	}
	if l.unwatch != nil && l.unwatch() { // it has not run and never will
		l.watch.lease = nil
		l.call.layer.watches.Put(l.watch)
	}
	l.watch = nil
	return true
}

// End calls the Ender, unless it was called before.
func (l *Lease) End(ctx context.Context) {
	if l.ended.CompareAndSwap(false, true) && l.ender != nil {
		defer l.contain()
		l.ender.Ended(ctx, context.Cause(l.next.Context()))
	}
}

// contain recovers from a panic of the decorator, since an end may be reported on a goroutine where
// nobody else can. It must be deferred directly.
func (l *Lease) contain() {
	if v := recover(); v != nil {
		slog.Error("decorate: a lock's decorator panicked; the lock is not affected",
			"decorator", fmt.Sprintf("%T", l.ender), "panic", v, "stack", string(debug.Stack()))
	}
}

// watch waits for the end of a lease's context. It is reused if it was stopped before it ran, which saves
// the allocation of its func value.
type watch struct {
	lease *Lease
	run   func()
}

func newWatch() *watch {
	w := new(watch)
	w.run = func() { w.lease.End(w.lease.call) }
	return w
}

// leaseContext is the context of a lease as its holder sees it. It hides the values that the decorator
// added for the next Locker. Otherwise locks that the holder takes inside would count as part of this
// call.
type leaseContext struct {
	context.Context
	call *Call
}

// Value implements context.Context.
func (c *leaseContext) Value(key any) any {
	if c.call.layer.hides(key) {
		return c.call.caller.Value(key)
	}
	return c.Context.Value(key)
}
