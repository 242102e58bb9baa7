package exporter_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter"
	"github.com/lockscope/lockscope/exporter/live"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/redlock"
)

// served is the exporter of a process on real servers, with a Locker that shows on its page.
func served(t *testing.T, urls []string, instance string) (lock.Locker, string) {
	t.Helper()
	engine, err := redlock.Open(urls, lock.WithInstance(instance), lock.WithCallSites(),
		redlock.WithRestartQuarantine(0))
	must(t, err)
	t.Cleanup(func() { must(t, engine.Close()) })
	board, err := live.New(live.WithInstance(instance))
	must(t, err)
	l, err := board.Wrap(engine)
	must(t, err)
	server := httptest.NewServer(newExporter(t, exporter.WithState(board), exporter.WithOwnServer()))
	t.Cleanup(server.Close)
	return l, server.URL + "/debug/locks/profile"
}

// refundOrder and chargeOrder are two places that lock orders, one for long.
func refundOrder(ctx context.Context, l lock.Locker) error {
	return lock.Do(ctx, l, "order:1001", func(context.Context, lock.Lease) error {
		<-time.After(50 * time.Millisecond)
		return nil
	})
}

func chargeOrder(ctx context.Context, l lock.Locker) error {
	return lock.Do(ctx, l, "order:1001", func(context.Context, lock.Lease) error { return nil })
}

// pprofTop runs go tool pprof on an address.
func pprofTop(t *testing.T, args ...string) string {
	t.Helper()
	tool := exec.CommandContext(t.Context(), "go", append([]string{"tool", "pprof", "-top", "-nodefraction=0"}, args...)...)
	tool.Env = append(os.Environ(), "PPROF_TMPDIR="+t.TempDir())
	out, err := tool.CombinedOutput()
	if err != nil {
		t.Fatalf("go tool pprof %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// TestProfileInPprof has the tool read profiles of two processes that contend for a lock on real servers.
func TestProfileInPprof(t *testing.T) {
	var urls []string
	for _, s := range locktest.Servers(t, 3) {
		urls = append(urls, "redis://"+s.Addr())
	}
	orders, waiters := served(t, urls, "orders-1")
	refunds, _ := served(t, urls, "refunds-1")
	ctx, cancel := context.WithCancel(t.Context())
	var working sync.WaitGroup
	repeat := func(work func(context.Context, lock.Locker) error, l lock.Locker) {
		working.Go(func() {
			for ctx.Err() == nil {
				_ = work(ctx, l)
			}
		})
	}
	repeat(refundOrder, refunds)
	for range 3 {
		repeat(chargeOrder, orders)
	}
	// Both lines that hold the lock make others wait. Which of them for longer, a busy machine decides.
	at := regexp.MustCompile(` [1-9][0-9.]*[mu]?s .* exporter/profile_test\.go:(\d+)\n`)
	byHolder := pprofUntil(t, func(text string) bool {
		lines := at.FindAllStringSubmatch(text, -1)
		return len(lines) == 2 && lines[0][1] != lines[1][1] && strings.Contains(text, " order:*\n")
	}, waiters+"?by=holder")
	tags := pprofUntil(t, func(text string) bool { return strings.Contains(text, "exporter_test.chargeOrder") },
		"-tagfocus=resource=order:1001", "-sample_index=contentions", waiters+"?seconds=1")
	byWaiter := pprofTop(t, waiters)
	cancel()
	working.Wait()
	contains(t, byWaiter, "Type: delay", "exporter_test.chargeOrder")
	if strings.Contains(byWaiter, "refundOrder") || strings.Contains(byWaiter, "live.(*locker)") {
		t.Errorf("by waiter:\n%s", byWaiter)
	}
	contains(t, tags, "Type: contentions", "Duration: 1")
	t.Logf("%s\n%s\n%s", byWaiter, byHolder, tags)
}

// pprofUntil is pprofTop, again and again until its text is good.
func pprofUntil(t *testing.T, good func(text string) bool, args ...string) string {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; {
		switch text := pprofTop(t, args...); {
		case good(text):
			return text
		case time.Now().After(end):
			t.Fatalf("pprof %v:\n%s", args, text)
		}
	}
}

// TestDrainEndsProfiles of the seconds to come.
func TestDrainEndsProfiles(t *testing.T) {
	board, err := live.New()
	must(t, err)
	e := newExporter(t, exporter.WithState(board), exporter.WithOwnServer())
	time.AfterFunc(50*time.Millisecond, e.Drain)
	began := time.Now()
	if code, _ := get(e, "/debug/locks/profile?seconds=300"); code != http.StatusOK || time.Since(began) > time.Minute {
		t.Errorf("%d after %v", code, time.Since(began))
	}
}
