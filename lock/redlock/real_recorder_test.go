package redlock_test

import (
	"context"
	"fmt"
	"github.com/lockscope/lockscope/lock/locktrace"
	"slices"
	"sync"
	"testing"
	"time"
)

// recorder keeps every event of a locktrace.Trace and checks that each Start has its End.
type recorder struct {
	mu      sync.Mutex
	events  []event
	changed chan struct{} // closed and replaced at each event
}

type event struct {
	kind string
	id   int // equal for a Start and its End
	end  bool
	data any
}

type recorderKey string

func newRecorder() *recorder { return &recorder{changed: make(chan struct{})} }

func (r *recorder) add(e event) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !e.end {
		e.id = len(r.events) + 1
	}
	r.events = append(r.events, e)
	close(r.changed)
	r.changed = make(chan struct{})
	return e.id
}

func onStart[E any](r *recorder, kind recorderKey) func(context.Context, E) context.Context {
	return func(ctx context.Context, e E) context.Context {
		return context.WithValue(ctx, kind, r.add(event{kind: string(kind), data: e}))
	}
}

func onEnd[E any](r *recorder, kind recorderKey) func(context.Context, E) {
	return func(ctx context.Context, e E) {
		id, _ := ctx.Value(kind).(int)
		r.add(event{kind: string(kind), id: id, end: true, data: e})
	}
}

func (r *recorder) trace() *locktrace.Trace {
	return &locktrace.Trace{
		AcquireStart: onStart[locktrace.AcquireStart](r, "acquire"), AcquireEnd: onEnd[locktrace.AcquireEnd](r, "acquire"),
		AttemptStart: onStart[locktrace.AttemptStart](r, "attempt"), AttemptEnd: onEnd[locktrace.AttemptEnd](r, "attempt"),
		NodeStart: onStart[locktrace.NodeStart](r, "node"), NodeEnd: onEnd[locktrace.NodeEnd](r, "node"),
		NodeRestart: func(_ context.Context, e locktrace.NodeRestart) {
			r.add(event{kind: "restart", id: -1, end: true,
				data: e})
		},
		WaitStart: onStart[locktrace.WaitStart](r, "wait"), WaitEnd: onEnd[locktrace.WaitEnd](r, "wait"),
		RenewStart: onStart[locktrace.RenewStart](r, "renew"), RenewEnd: onEnd[locktrace.RenewEnd](r, "renew"),
		ReleaseStart: onStart[locktrace.ReleaseStart](r, "release"), ReleaseEnd: onEnd[locktrace.ReleaseEnd](r, "release"),
	}
}

func (r *recorder) in(ctx context.Context) context.Context { return locktrace.With(ctx, r.trace()) }

func (r *recorder) all() []event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.events[:len(r.events):len(r.events)]
}

// of counts the events of type E that match.
func of[E any](r *recorder, match func(E) bool) (n int) {
	for _, e := range r.all() {
		if data, ok := e.data.(E); ok && match(data) {
			n++
		}
	}
	return n
}

// awaitEvents waits until at least n events of type E match.
func awaitEvents[E any](t testing.TB, r *recorder, bound time.Duration, n int, what string, match func(E) bool) {
	t.Helper()
	timeout := time.After(bound)
	for {
		r.mu.Lock()
		changed := r.changed
		r.mu.Unlock()
		if of(r, match) >= n {
			return
		}
		select {
		case <-changed:
		case <-timeout:
			t.Fatalf("not within %v: %d x %s; events:\n%s", bound, n, what, r)
		}
	}
}

func (r *recorder) String() (s string) {
	for _, e := range r.all() {
		s += fmt.Sprintf("%s %d end=%v %+v\n", e.kind, e.id, e.end, e.data)
	}
	return s
}

// wantPaired waits until every Start so far has its End, and requires exactly one End. New events may come meanwhile:
// each node's unanswered releases are repeated.
func (r *recorder) wantPaired(t testing.TB) {
	t.Helper()
	type pair struct {
		kind string
		id   int
	}
	open := func() (open []pair) {
		count := map[pair]int{}
		for _, e := range r.all() {
			if p := (pair{e.kind, e.id}); !e.end {
				count[p]++
			} else {
				count[p]--
			}
		}
		for p, n := range count {
			if n < 0 {
				t.Fatalf("%s %d ended %d times too often:\n%s", p.kind, p.id, -n, r)
			}
			if n > 0 {
				open = append(open, p)
			}
		}
		return open
	}
	sofar := open()
	eventually(t, settleTime, "every Start has its End", func() bool {
		still := open()
		return !slices.ContainsFunc(sofar, func(p pair) bool { return slices.Contains(still, p) })
	})
}
