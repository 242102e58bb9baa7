package instrument_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/redlock"
)

// guarded is a lock with the default guard.
func guarded(t *testing.T, servers []*redisproc.Server, text *logText, s *spans) *instrument.Locker {
	t.Helper()
	var urls []string
	for _, addr := range addrs(servers) {
		urls = append(urls, "redis://"+addr)
	}
	l, err := redlock.Open(urls, lock.WithNodeTimeout(2*time.Second))
	must(t, err)
	t.Cleanup(func() { must(t, l.Close()) })
	return wrap(t, l, instrument.WithLogger(text.logger()), instrument.WithTracerProvider(s.provider()))
}

// record waits for the record with a message, and requires that there is one only.
func record(t *testing.T, text *logText, msg string) (line string) {
	t.Helper()
	eventually(t, msg, func() bool {
		for line = range strings.Lines(text.String()) {
			if strings.Contains(line, msg) {
				return true
			}
		}
		return false
	})
	if n := strings.Count(text.String(), msg); n != 1 {
		t.Errorf("%q is told %d times:\n%s", msg, n, text.String())
	}
	return line
}

// TestNodesInQuarantine: they answer and may not vote.
func TestNodesInQuarantine(t *testing.T) {
	servers := locktest.Servers(t, 3) // new and not vouched for
	l := guarded(t, servers, new(logText), new(spans))
	if _, err := l.Acquire(t.Context(), "job", lock.NoWait()); !errors.Is(err, lock.ErrNoQuorum) {
		t.Fatalf("%v, want no quorum", err)
	}
	want := func(server *redisproc.Server, up, usable float64) {
		t.Helper()
		eventually(t, "the node is seen as it is", func() bool {
			_, _ = l.Acquire(t.Context(), "job", lock.NoWait())
			return gather(t, l, "node_up", "lock_node", server.Addr(), "backend", "redis") == up &&
				gather(t, l, "node_usable", "lock_node", server.Addr(), "backend", "redis") == usable
		})
	}
	for _, s := range servers {
		want(s, 1, 0)
	}
	vouchFor(t, servers)
	for _, s := range servers {
		want(s, 1, 1)
	}
	node := servers[1].Addr()
	if m := find(t, l, "node_clock_skew_seconds", "lock_node", node, "backend", "redis"); m == nil ||
		math.Abs(m.GetGauge().GetValue()) > .5 {
		t.Errorf("the clock of this machine is off against itself: %v", m)
	}
	must(t, servers[0].Kill())
	want(servers[0], 0, 0)
}

func wantIn(t *testing.T, line string, all ...string) {
	t.Helper()
	for _, part := range all {
		if !strings.Contains(line, part) {
			t.Errorf("%q is not in %s", part, line)
		}
	}
}

// TestRestartOfAnOnlyNode: it votes at once, and the log reports the risk.
func TestRestartOfAnOnlyNode(t *testing.T) {
	servers, text := locktest.Servers(t, 1), new(logText)
	node := servers[0].Addr()
	l := guarded(t, servers, text, new(spans))
	restarts := func(enforced string) float64 {
		return gather(t, l, "node_restarts_total", "lock_node", node, "backend", "redis", "enforced", enforced)
	}
	lease, err := l.Acquire(t.Context(), "order:1001", lock.NoRenew())
	must(t, err)
	young := record(t, text, "node started a short while ago and votes at once: locks it forgot may still be held")
	wantIn(t, young, "level=INFO", "node="+node, "left=", "enforced=false", "trace_id=")
	if restarts("false") != 1 || find(t, l, "node_restarts_total", "lock_node", node, "backend", "redis", "enforced",
		"true") == nil {
		t.Errorf("%v restarts, want 1, and a series for those that are enforced", restarts("false"))
	}

	must(t, servers[0].Restart(t.Context()))
	eventually(t, "it is locked on again", func() bool {
		again, err := l.Acquire(t.Context(), "order:1001", lock.NoWait())
		return err == nil && again.Release(t.Context()) == nil
	})
	if lease.Context().Err() != nil {
		t.Fatal("the first lease ended too early to have been valid beside the second")
	}
	wantIn(t, record(t, text, "node restarted and votes at once: locks it forgot may still be held"), "level=WARN",
		"node="+node, "enforced=false")
	if got := restarts("false"); got != 2 {
		t.Errorf("%v restarts, want 2", got)
	}
}

// TestRestartOfOneOfThree: it stays silent.
func TestRestartOfOneOfThree(t *testing.T) {
	servers, text, s := locktest.Servers(t, 3), new(logText), new(spans)
	vouchFor(t, servers)
	l := guarded(t, servers, text, s)
	use := func() {
		lease, err := l.Acquire(t.Context(), "order:1001")
		must(t, err)
		must(t, lease.Release(t.Context()))
	}
	node := servers[2].Addr()
	eventually(t, "the node is met, two of three decide without it", func() bool {
		use()
		return gather(t, l, "node_usable", "lock_node", node, "backend", "redis") == 1
	})
	must(t, servers[2].Restart(t.Context()))
	eventually(t, "the restart is counted", func() bool {
		use()
		return gather(t, l, "node_restarts_total", "lock_node", node, "backend", "redis", "enforced", "true") == 1
	})
	must(t, l.Flush(t.Context()))
	line := record(t, text, "node restarted: it does not vote until locks it may have forgotten have expired")
	wantIn(t, line, "level=WARN", "node="+node, "left=1m0.", "enforced=true")
	if log := text.String(); strings.Contains(log, "short while ago") {
		t.Errorf("nodes that were vouched for are told of: %s", log)
	}
	if strings.Contains(s.text(), "restart") {
		t.Errorf("spans tell of it: %s", s.text())
	}
}
