package scanner_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/report"
)

// TestUndatedLocksAreCounted: a lock that does not say since when it is held may be held for days. One sweep cannot
// tell, and says so.
func TestUndatedLocksAreCounted(t *testing.T) {
	f := startNodes(t, 1)
	c, ctx := f.clients[0], within(t)
	var clk clock
	hold := func() {
		set(t, c, "lock:constant", "1", time.Minute)
		set(t, c, "lock:redsync", redsyncValue, time.Minute)
		must(t, c.HSet(ctx, "lock:redisson", redissonID+":42", 1).Err())
		must(t, c.Expire(ctx, "lock:redisson", time.Minute).Err())
		set(t, c, "lock:lockscope", lockscopeValue(token, clk.now()), time.Minute) // says it
		set(t, c, "lock:shedlock", shedLockValue(clk.now()), time.Minute)
	}
	says := func(what string, gaps []inspect.Gap, n string) {
		t.Helper()
		if len(gaps) != 1 || gaps[0].Reason != inspect.ReasonUnwatched || gaps[0].Node != f.servers[0].Addr() ||
			!strings.Contains(gaps[0].Detail, n+" without the time since which they are held") ||
			!strings.Contains(gaps[0].Detail, "--state FILE") {
			t.Errorf("%s: %+v, want %s", what, gaps, n)
		}
	}
	hold()
	r := sweep(t, newScanner(t, f.clients))
	wantFindings(t, "by default", r.Findings)
	wantGaps(t, "by default", r)
	says("by default", r.Skipped, "3 locks")
	r = sweep(t, newScanner(t, f.clients, scanner.WithChecks(inspect.NoTTL, inspect.LongTTL)))
	if len(r.Skipped)+len(r.Incomplete()) > 0 {
		t.Errorf("not to be looked for: %+v, %+v", r.Skipped, r.Incomplete())
	}

	store := scanner.FileStore(filepath.Join(t.TempDir(), "state"))
	run := func() report.Report {
		return sweep(t, newScanner(t, f.clients, scanner.WithChecks(inspect.HeldTooLong), scanner.WithNow(clk.now),
			scanner.WithMemory(store)))
	}
	r = run()
	says("asked for by name", r.Incomplete(), "3 locks")
	clk.pass(20 * time.Minute)
	hold()
	set(t, c, "lock:new", tokenOf("new"), time.Minute) // not there 20 minutes ago
	r = run()
	wantGaps(t, "remembered", r)
	says("remembered", r.Skipped, "3 locks")
	clk.pass(20 * time.Minute)
	hold()
	run()
	clk.pass(25 * time.Minute)
	hold()
	r = run()
	wantFindings(t, "65 minutes", r.Findings, "held_too_long lock:redisson", "held_too_long lock:redsync")
	if len(r.Skipped) != 1 || !strings.Contains(r.Skipped[0].Detail, "1 lock ") {
		t.Errorf("the constant value is renewed for ever, and nothing shows it: %+v", r.Skipped)
	}
}

// TestSameClientIsNotOneHolder: a thread that takes its lock again and again had it at each look. That is what was
// seen, and all that was.
func TestSameClientIsNotOneHolder(t *testing.T) {
	f := startNodes(t, 1)
	c, ctx := f.clients[0], within(t)
	var clk clock
	s := newScanner(t, f.clients, scanner.WithNow(clk.now), scanner.WithHoldLimit(30*time.Second))
	end := clk.now().Add(50 * time.Minute)
	var r report.Report
	for range 4 {
		must(t, c.Del(ctx, "lock:scheduler", "lock:midnight").Err()) // released
		must(t, c.HSet(ctx, "lock:scheduler", redissonID+":42", 1).Err())
		must(t, c.Expire(ctx, "lock:scheduler", 30*time.Second).Err())
		set(t, c, "lock:midnight", "1", end.Sub(clk.now())) // an absolute expiry, as EXPIREAT sets it
		set(t, c, "lock:zombie", redsyncValue, 30*time.Second)
		r = sweep(t, s)
		clk.pass(11 * time.Second)
	}
	wantFindings(t, "four looks", r.Findings, "held_too_long lock:scheduler", "held_too_long lock:midnight",
		"held_too_long lock:zombie")
	for key, want := range map[string]string{
		"lock:scheduler": `^at 4 looks, 1\ds apart, the same client had it; it may have released it in between. ` +
			`Otherwise it has had it for \d\ds or more, longer than the limit of 30s; it expires in`,
		"lock:midnight": `^at 4 looks, 1\ds apart, its value and its end were the same; its holder may have released it ` +
			`in between. Otherwise it has had it for \d\ds or more, longer than the limit of 30s; it expires in`,
		"lock:zombie": `^one holder has had it for \d\ds or more`,
	} {
		if got := find(t, r.Findings, inspect.HeldTooLong, key).Evidence; !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
	for _, finding := range report.NewDocument(r).Findings {
		if text := fmt.Sprintf("%+v", finding); strings.Contains(text, "Inferred:true") == (finding.Key == "lock:zombie") {
			t.Errorf("%s", text)
		}
	}
}
