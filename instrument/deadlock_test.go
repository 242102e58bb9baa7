package instrument_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
)

// TestDeadlockIsCountedLoggedAndTraced: a call acquires a lock that it already holds, with FailOnDeadlock.
func TestDeadlockIsCountedLoggedAndTraced(t *testing.T) { synctest.Test(t, testDeadlock) }

func testDeadlock(t *testing.T) {
	s, logs := new(spans), new(logText)
	l := wrap(t, locktest.NewFakes(t, 3, lock.WithCallSites())(t), instrument.WithTracerProvider(s.provider()),
		instrument.WithLogger(logs.logger()))
	lease, err := l.Acquire(t.Context(), "order:1001")
	must(t, err)
	_, err = l.Acquire(lease.Context(), "order:1001", lock.FailOnDeadlock())
	if !errors.Is(err, lock.ErrDeadlock) {
		t.Fatal(err)
	}
	if got := gather(t, l, "deadlocks_total", "resource", "order:*"); got != 1 {
		t.Errorf("deadlocks_total is %v, want 1", got)
	}
	if got := gather(t, l, "failures_total", "resource", "order:*"); got != 1 {
		t.Errorf("failures_total is %v, want 1", got)
	}
	must(t, lease.Release(context.Background()))
	synctest.Wait()
	second := s.named("lock.acquire")[1]
	wantAttrs(t, second, "distributed_lock.outcome=error", "error.type=deadlock",
		`distributed_lock.holding=["order:1001"]`)
	if site := attrs(second)["distributed_lock.call_site"]; !strings.HasPrefix(site, "instrument/deadlock_test.go:") {
		t.Errorf("call site %q", site)
	}
	if cycle := attrs(second)["distributed_lock.deadlock.cycle"]; !strings.HasPrefix(cycle, `"order:1001" (fence `) {
		t.Errorf("cycle %q", cycle)
	}
	l.Flush(t.Context())
	if text := logs.String(); !strings.Contains(text, "level=ERROR msg=deadlock") ||
		!strings.Contains(text, "waits for") {
		t.Errorf("log: %s", text)
	}
}
