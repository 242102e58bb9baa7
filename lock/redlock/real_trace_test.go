package redlock_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// TestRealTraceTellsAllButSecrets covers success, refusal, hand-off, loss and failure. Every Start has its End, and no
// event or error shows an owner token.
func TestRealTraceTellsAllButSecrets(t *testing.T) {
	t.Parallel()
	f, rec := startNodes(t, 3), newRecorder()
	ctx := rec.in(t.Context())
	a, b := f.locker(), f.locker()
	tokens := map[string]bool{}
	noteTokens := func() {
		for _, c := range f.admin {
			if value := c.Get(t.Context(), "lock:job").Val(); value != "" {
				token, _, _ := strings.Cut(value, ":")
				tokens[token] = true
			}
		}
	}
	var texts []string
	failed := func(err error, targets ...error) {
		t.Helper()
		wantErr(t, err, targets...)
		texts = append(texts, fmt.Sprintf("%v %+v %#v", err, err, err))
		for _, e := range flatten(err) {
			texts = append(texts, fmt.Sprintf("%v %+v %#v", e, e, e))
		}
	}

	lease, err := a.Acquire(ctx, "job", lock.TTL(longTTL))
	must(t, err)
	noteTokens()
	_, err = b.Acquire(ctx, "job", lock.NoWait())
	failed(err, lock.ErrHeld)
	_, err = b.Acquire(ctx, "job", lock.MaxWait(nodeTimeout))
	failed(err, lock.ErrHeld, lock.ErrMaxWait)
	waiting := acquireAsync(ctx, b, "job", lock.TTL(5*nodeTimeout))
	eventually(t, settleTime, "it queues", func() bool { return f.queued("job") == 1 })
	must(t, lease.Extend(ctx))
	must(t, lease.Release(ctx))
	g := await(t, settleTime, "the waiter", waiting)
	must(t, g.err)
	noteTokens()
	awaitEvents(t, rec, settleTime, 2, "a renewal", renewed)
	f.pause(0, 1)
	<-g.lease.Context().Done()
	failed(g.lease.Extend(ctx), lock.ErrLost)
	failed(g.lease.Release(ctx), lock.ErrNoQuorum)
	_, err = a.Acquire(ctx, "job", lock.NoWait())
	failed(err, lock.ErrNoQuorum)
	f.resume(0, 1)
	rec.wantPaired(t)

	if len(tokens) < 2 {
		t.Fatalf("%d tokens were seen on the nodes, want 2", len(tokens))
	}
	for _, e := range rec.all() {
		texts = append(texts, fmt.Sprintf("%+v %#v", e, e.data))
	}
	for token := range tokens {
		if len(token) != 32 {
			t.Fatalf("a token of %d characters", len(token))
		}
		for _, text := range texts {
			if strings.Contains(text, token) || strings.Contains(text, token[:8]) {
				t.Errorf("the token is reported by: %s", text)
			}
		}
	}
	for kind, n := range map[string]int{
		"acquire": of(rec, func(locktrace.AcquireEnd) bool { return true }),
		"attempt": of(rec, func(locktrace.AttemptEnd) bool { return true }),
		"node":    of(rec, func(locktrace.NodeEnd) bool { return true }),
		"wait":    of(rec, func(locktrace.WaitEnd) bool { return true }),
		"renew":   of(rec, func(locktrace.RenewEnd) bool { return true }),
		"release": of(rec, func(locktrace.ReleaseEnd) bool { return true }),
	} {
		if n == 0 {
			t.Errorf("no %s event", kind)
		}
	}
}

// flatten lists an error and all errors that it wraps.
func flatten(err error) (all []error) {
	all = append(all, err)
	switch err := err.(type) {
	case interface{ Unwrap() error }:
		if next := err.Unwrap(); next != nil {
			all = append(all, flatten(next)...)
		}
	case interface{ Unwrap() []error }:
		for _, next := range err.Unwrap() {
			all = append(all, flatten(next)...)
		}
	}
	return all
}

// TestRealHolderIsReported: a refused caller learns the holder.
func TestRealHolderIsReported(t *testing.T) {
	f := startNodes(t, 3)
	const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	began := time.Now().Truncate(time.Millisecond)
	lease, err := f.locker(lock.WithInstance("billing/7")).Acquire(locktrace.WithTraceparent(t.Context(), traceparent),
		"job", lock.TTL(longTTL))
	must(t, err)
	_, err = f.locker().Acquire(t.Context(), "job", lock.NoWait())
	refused, ok := errors.AsType[*lock.HeldError](err)
	if !ok {
		t.Fatalf("error is %v, want a *HeldError", err)
	}
	if h := refused.Holder; h.Instance != "billing/7" || h.Traceparent != traceparent || h.Since.Before(began) ||
		h.Since.After(time.Now()) {
		t.Errorf("holder is %+v", h)
	}
	if refused.Remaining <= longTTL-settleTime || refused.Remaining > longTTL {
		t.Errorf("remaining is %v", refused.Remaining)
	}
	must(t, lease.Release(t.Context()))
}

// TestRealEmptyTraceCostsNothing compares the allocations of a pair without a trace and with a trace without hooks, and bounds them.
func TestRealEmptyTraceCostsNothing(t *testing.T) {
	f := startNodes(t, 1)
	l := f.locker()
	pair := func(trace *locktrace.Trace) float64 {
		ctx := locktrace.With(t.Context(), trace)
		return testing.AllocsPerRun(300, func() {
			lease, err := l.Acquire(ctx, "job")
			must(t, err)
			must(t, lease.Release(ctx))
		})
	}
	pair(nil) // makes the connections
	none, without := pair(nil), pair(&locktrace.Trace{})
	for range 4 { // other goroutines can only add allocations
		none, without = min(none, pair(nil)), min(without, pair(&locktrace.Trace{}))
	}
	const most = 40 // 34 were seen; a service that locks often pays for each of them
	if t.Logf("%.1f allocations a pair", none); none > most {
		t.Errorf("%.1f allocations a pair, at most %d are wanted", none, most)
	}
	if without > none+0.5 {
		t.Errorf("%.1f allocations with an empty trace, %.1f without", without, none)
	}
}

// TestRealTraceCountsTheNodesThatLetGo: a release while one of three nodes does not answer.
func TestRealTraceCountsTheNodesThatLetGo(t *testing.T) {
	f, rec := startNodes(t, 3), newRecorder()
	l := f.locker()
	f.warm(l)
	lease, err := l.Acquire(rec.in(t.Context()), "job", lock.TTL(longTTL))
	must(t, err)
	eventually(t, settleTime, "every node holds it", func() bool {
		return len(f.keys("lock:job", 0)) == 1 && len(f.keys("lock:job", 1)) == 1 && len(f.keys("lock:job", 2)) == 1
	})
	must(t, f.admin[1].Del(t.Context(), "lock:job").Err())
	f.pause(2)
	must(t, lease.Release(t.Context()))
	f.resume(2)
	awaitEvents(t, rec, settleTime, 1, "a release by one node", func(e locktrace.ReleaseEnd) bool {
		return e.Outcome == lock.OutcomeReleased && e.Granted == 1 && e.Refused == 1
	})
}

// TestRealBlockerIsReportedToALocalWaiter, which queues behind a caller of its own process that waits for another
// process.
func TestRealBlockerIsReportedToALocalWaiter(t *testing.T) {
	f, rec := startNodes(t, 3), newRecorder()
	lease, err := f.locker(lock.WithInstance("billing/7")).Acquire(t.Context(), "job", lock.TTL(longTTL))
	must(t, err)
	l := f.locker()
	first := acquireAsync(rec.in(t.Context()), l, "job", lock.TTL(longTTL))
	awaitEvents(t, rec, settleTime, 1, "a wait for the holder",
		func(e locktrace.WaitStart) bool { return e.Kind == locktrace.WaitHolder })
	second := acquireAsync(rec.in(t.Context()), l, "job", lock.TTL(longTTL))
	awaitEvents(t, rec, settleTime, 1, "a local wait that names the holder", func(e locktrace.WaitStart) bool {
		return e.Kind == locktrace.WaitLocal && e.Ahead == 1 && e.Blocker != nil && e.Blocker.Holder.Instance == "billing/7"
	})
	must(t, lease.Release(t.Context()))
	for _, waiting := range []<-chan grant{first, second} {
		g := await(t, settleTime, "a waiter", waiting)
		must(t, g.err)
		must(t, g.lease.Release(t.Context()))
	}
}
