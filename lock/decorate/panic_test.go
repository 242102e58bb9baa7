package decorate_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/decorate"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/lock/memlock"
)

// logText returns what slog.Default logs until the test ends.
func logText(t *testing.T) *bytes.Buffer {
	log, before := new(bytes.Buffer), slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(log, nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
	return log
}

// TestPanicsAreContained: a panic of an Ender when a lease is released or lost, and of a hook.
func TestPanicsAreContained(t *testing.T) {
	log := logText(t)
	synctest.Test(t, func(t *testing.T) {
		l := newLocker(t, memlock.NewNodes(1))
		r := record(l)
		r.panic = "ended"
		must(t, lock.Do(t.Context(), r, "released", func(context.Context, lock.Lease) error { return nil }))
		_, err := r.Acquire(t.Context(), "lost")
		must(t, err)
		must(t, l.Lose("lost"))
		synctest.Wait()

		r.layer = decorate.NewLayer(&locktrace.Trace{
			AcquireStart: func(context.Context, locktrace.AcquireStart) context.Context { panic("hook") },
		})
		lease, err := r.Acquire(t.Context(), "hooked")
		must(t, err)
		if !lease.(*recorded).call.Hooked() {
			t.Error("a hook that panics is not noticed")
		}
		must(t, lease.Release(t.Context()))
	})
	if n := strings.Count(log.String(), "panic=ended"); n != 3 ||
		!strings.Contains(log.String(), "decorator=*decorate_test.recorded") {
		t.Errorf("%d panics of an Ender are told, want 3: %s", n, log)
	}
	if !strings.Contains(log.String(), "panic=hook") {
		t.Errorf("the panic of the hook is not told: %s", log)
	}
}

// brokenLease is a lease of a foreign Locker without a context.
type brokenLease struct{}

func (brokenLease) Resource() string              { return "job" }
func (brokenLease) Context() context.Context      { return nil }
func (brokenLease) Fence() uint64                 { return 0 }
func (brokenLease) Remaining() time.Duration      { return time.Second }
func (brokenLease) Extend(context.Context) error  { return nil }
func (brokenLease) Release(context.Context) error { return nil }

// TestBrokenLeasesAreReleased: a lease that cannot be watched is released.
func TestBrokenLeasesAreReleased(t *testing.T) {
	log := logText(t)
	var call decorate.Call
	call.Start(t.Context(), decorate.NewLayer(nil), nil)
	l := &recorded{owner: record(nil)}
	l.Begin(&call, brokenLease{}, l)
	l.Watch()
	must(t, l.Release(t.Context()))
	if !strings.Contains(log.String(), "nil pointer") {
		t.Errorf("nobody is told: %s", log)
	}
}
