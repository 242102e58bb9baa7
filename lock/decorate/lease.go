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

// Ender is told when a lease ends.
type Ender interface {
	// Ended is called once for a lease, when it was released or when its context ended
	// before that. cause is context.Cause of the lease's context: [lock.ErrReleased], or
	// why the lease was lost; nil if the context goes on. ctx is Release's, or the Call
	// if nobody has released.
	//
	// It runs inside of Release, or in a goroutine of its own: return fast. A panic is
	// contained, and slog.Default is told, with the stack.
	Ended(ctx context.Context, cause error)
}

// Lease is the next Locker's lease, watched: embed it in the lease of a decorator and
// replace the methods that do more than pass on. It must not be copied. It is of no use
// before Begin, and then safe for concurrent use.
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

// Begin makes l stand for next, which came of c. Its end will be told to e, unless that is
// nil. It is called once, before anything else.
func (l *Lease) Begin(c *Call, next lock.Lease, e Ender) {
	l.next, l.call, l.ender = next, c, e
	l.user = leaseContext{Context: next.Context(), call: c}
}

// Watch makes the end of the lease's context be told, and not only its release. From then
// on Ended may be called, also before Watch returns. It is called once at most, and not
// after StartRelease or Release.
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

// Context implements lock.Lease. It is the next lease's, without what the decorator has
// added to its caller's.
func (l *Lease) Context() context.Context { return &l.user }

// Fence implements lock.Lease.
func (l *Lease) Fence() uint64 { return l.next.Fence() }

// Remaining implements lock.Lease.
func (l *Lease) Remaining() time.Duration { return l.next.Remaining() }

// Extend implements lock.Lease. Hooks find the call.
func (l *Lease) Extend(ctx context.Context) error {
	return l.next.Extend(&CallContext{Context: ctx, Call: l.call})
}

// Release implements lock.Lease. Hooks find the call, and the end is told when the next
// lease's Release has returned, whatever it returned.
func (l *Lease) Release(ctx context.Context) error {
	inside := &CallContext{Context: ctx, Call: l.call}
	if !l.StartRelease() {
		return l.next.Release(inside)
	}
	err := l.next.Release(inside)
	l.End(ctx)
	return err
}

// StartRelease stops watching. It reports that it was called for the first time. A Release
// that replaces Lease's calls it first, and End if that was so.
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

// End tells the Ender, unless it was told before.
func (l *Lease) End(ctx context.Context) {
	if l.ended.CompareAndSwap(false, true) && l.ender != nil {
		defer l.contain()
		l.ender.Ended(ctx, context.Cause(l.next.Context()))
	}
}

// contain keeps a decorator that panics from taking the program down: an end may be told
// where nobody else can recover. It must be deferred itself.
func (l *Lease) contain() {
	if v := recover(); v != nil {
		slog.Error("decorate: a decorator of a lock panicked; the lock goes on",
			"decorator", fmt.Sprintf("%T", l.ender), "panic", v, "stack", string(debug.Stack()))
	}
}

// watch waits for a lease's context to end. It is used again once it was stopped before it
// ran: making its func value is an allocation.
type watch struct {
	lease *Lease
	run   func()
}

func newWatch() *watch {
	w := new(watch)
	w.run = func() { w.lease.End(w.lease.call) }
	return w
}

// leaseContext is the context of a lease as its holder sees it. What the decorator added
// for the next Locker is hidden: were it seen, whatever the holder locks inside would be
// taken for a part of this call.
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
