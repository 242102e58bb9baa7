package decorate_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/decorate"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/lock/memlock"
)

func newLocker(t testing.TB, nodes memlock.Nodes, opts ...lock.Option) *memlock.Locker {
	t.Helper()
	l, err := memlock.New(nodes, opts...)
	must(t, err)
	t.Cleanup(func() { must(t, l.Close()) })
	return l
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// recorder is a decorator that records its events.
type recorder struct {
	next  lock.Locker
	layer *decorate.Layer
	panic any // Ended panics with it

	mu     sync.Mutex
	events []string
}

type recorded struct {
	decorate.Lease
	call     decorate.Call
	owner    *recorder
	resource string
}

// valueKey is the key of a value that a recorder adds to its calls.
type valueKey struct{}

func addValue(ctx context.Context) context.Context {
	return context.WithValue(ctx, valueKey{}, "the decorator's")
}

func record(next lock.Locker) *recorder {
	r := &recorder{next: next}
	r.layer = decorate.NewLayer(&locktrace.Trace{
		AttemptEnd: func(ctx context.Context, _ locktrace.AttemptEnd) { r.note(ctx, "attempt") },
		RenewEnd:   func(ctx context.Context, _ locktrace.RenewEnd) { r.note(ctx, "renewal") },
		ReleaseEnd: func(ctx context.Context, _ locktrace.ReleaseEnd) { r.note(ctx, "release") },
	}, addValue)
	return r
}

// note records an event of the call of ctx.
func (r *recorder) note(ctx context.Context, what string) {
	resource := "nobody's"
	if l, ok := r.layer.Find(ctx).(*recorded); ok {
		resource = l.resource
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, what+" "+resource)
}

func (r *recorder) Acquire(ctx context.Context, resource string, opts ...lock.AcquireOption) (lock.Lease, error) {
	l := &recorded{owner: r, resource: resource}
	l.call.Start(ctx, r.layer, l)
	l.call.Context = addValue(ctx)
	next, err := r.next.Acquire(&l.call, resource, opts...)
	if err != nil {
		return nil, err
	}
	l.Begin(&l.call, next, l)
	l.Watch()
	return l, nil
}

func (l *recorded) Ended(ctx context.Context, cause error) {
	what := "ended"
	if cause != nil {
		what = cause.Error()
	}
	if ctx == context.Context(&l.call) {
		what += ", unreleased:"
	}
	l.owner.note(&l.call, what)
	if l.owner.panic != nil {
		panic(l.owner.panic)
	}
}

// wantEvents requires these events since it was last called.
func (r *recorder) wantEvents(t *testing.T, want ...string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Equal(r.events, want) {
		t.Errorf("told of %q, want %q", r.events, want)
	}
	r.events = nil
}

// unhooked is a Locker that calls no hooks.
type unhooked struct{ lock.Locker }

func (u unhooked) Acquire(ctx context.Context, resource string, opts ...lock.AcquireOption) (lock.Lease, error) {
	return u.Locker.Acquire(withoutTrace{ctx}, resource, opts...)
}

// withoutTrace hides the trace of its Context.
type withoutTrace struct{ context.Context }

func (c withoutTrace) Value(key any) any {
	if locktrace.With(context.Background(), &locktrace.Trace{}).Value(key) != nil {
		return nil
	}
	return c.Context.Value(key)
}
