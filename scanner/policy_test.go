package scanner_test

import (
	"bytes"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/report"
)

// TestPolicies: the first policy that matches decides, and the defaults if none does.
func TestPolicies(t *testing.T) {
	for _, path := range paths() {
		t.Run(string(path), func(t *testing.T) { testPolicies(t, path) })
	}
}

func testPolicies(t *testing.T, path report.Path) {
	n := startNodes(t, 1)
	c, ctx := n.clients[0], within(t)
	for key, ttl := range map[string]time.Duration{
		"lock:batch:nightly": 20 * time.Hour, "lock:batch:late": 40 * time.Hour, "lock:batch:leak": 0,
		"lock:unique:a": 0, "lock:quick:a": 2 * time.Minute, "lock:quick:b": 30 * time.Second,
		"lock:order:1": 20 * time.Hour, "lock:order:2": 30 * time.Minute, "lock:order:3": 0,
	} {
		must(t, c.Set(ctx, key, redsyncValue, ttl).Err())
	}
	must(t, c.Set(ctx, "lock:batch:held", shedLockValue(time.Now().Add(-2*time.Hour)), time.Minute).Err())
	must(t, c.Set(ctx, "lock:order:held", shedLockValue(time.Now().Add(-2*time.Hour)), time.Minute).Err())
	must(t, c.Set(ctx, "lock:unique:old", shedLockValue(time.Now().Add(-48*time.Hour)), 0).Err())
	s := newScanner(t, n.clients, scanner.UsePath(path), scanner.WithPolicies(
		report.Policy{Name: "batch", Pattern: "lock:batch:*", Team: "data", MaxTTL: 24 * time.Hour, MaxHold: 3 * time.Hour},
		report.Policy{Name: "unique", Pattern: "lock:unique:*", NoTTLAllowed: true, MaxHold: 24 * time.Hour},
		report.Policy{Pattern: "lock:quick:*", MaxTTL: time.Minute},
		report.Policy{Name: "never reached", Pattern: "lock:batch:late", NoTTLAllowed: true, MaxTTL: 100 * time.Hour},
	))
	r := sweep(t, s)
	wantFindings(t, "findings", r.Findings,
		"long_ttl lock:batch:late", "no_ttl lock:batch:leak", "long_ttl lock:quick:a", "long_ttl lock:order:1",
		"no_ttl lock:order:3",
		"held_too_long lock:order:held", "held_too_long lock:unique:old")
	late := find(t, r.Findings, inspect.LongTTL, "lock:batch:late")
	if late.Policy != "batch" || late.Team != "data" || !strings.Contains(late.Evidence, `24h0m0s set by policy batch`) {
		t.Errorf("%q %s", late.Policy, late.Evidence)
	}
	if f := find(t, r.Findings, inspect.LongTTL, "lock:quick:a"); f.Policy != "lock:quick:*" {
		t.Errorf("a policy without a name is called %q", f.Policy)
	}
	if f := find(t, r.Findings, inspect.NoTTL, "lock:order:3"); f.Policy != "" {
		t.Errorf("no policy is called %q", f.Policy)
	}
	if f := find(t, r.Findings, inspect.HeldTooLong, "lock:unique:old"); strings.Contains(f.Evidence,
		"it expires in") {
		t.Errorf("a lock that never expires ends: %s", f.Evidence)
	}
	wantFindings(t, "again", sweep(t, s).Findings, brief(r.Findings)...)
}

// TestPoliciesOfPatterns: a strict policy of one pattern finds locks that the pass of another pattern ignores.
func TestPoliciesOfPatterns(t *testing.T) {
	n := startNodes(t, 1)
	c, ctx := n.clients[0], within(t)
	must(t, c.Set(ctx, "job-lock:default:a", "1", 10*time.Minute).Err())
	must(t, c.Set(ctx, "lock:a", "1", 10*time.Minute).Err())
	must(t, c.Set(ctx, "lock:b:c", "1", 10*time.Minute).Err())
	report := sweep(t, newScanner(t, n.clients, scanner.WithPatterns("lock:*", "job-lock:*"), scanner.WithPolicies(
		report.Policy{Pattern: "lock:b:*", MaxTTL: time.Minute}, report.Policy{Pattern: "lock:*", MaxTTL: time.Hour},
		report.Policy{Pattern: "job-lock:*", MaxTTL: 5 * time.Minute},
	)))
	wantFindings(t, "findings", report.Findings, "long_ttl lock:b:c", "long_ttl job-lock:default:a")
}

func TestExclusions(t *testing.T) {
	for _, path := range paths() {
		t.Run(string(path), func(t *testing.T) { testExclusions(t, path) })
	}
}

func testExclusions(t *testing.T, path report.Path) {
	n := startNodes(t, 1)
	c, ctx := n.clients[0], within(t)
	for _, key := range []string{"lock:legacy:1", "lock:legacy:2", "lock:order:1"} {
		must(t, c.Set(ctx, key, redsyncValue, 0).Err())
	}
	must(t, c.Set(ctx, "lock:legacy:fine", redsyncValue, time.Minute).Err())
	var clock clock
	until := time.Now().Add(10 * time.Minute)
	var log bytes.Buffer
	s := newScanner(t, n.clients, scanner.UsePath(path), scanner.WithNow(clock.now),
		scanner.WithLogger(slog.New(slog.NewTextHandler(&log, nil))), scanner.WithExclusions(
			report.Exclusion{Pattern: "lock:legacy:*", Until: until, Reason: "OPS-1: rewritten this quarter"},
			report.Exclusion{Pattern: "lock:order:1", Until: time.Now().Add(-time.Hour), Reason: "OPS-2"},
		))
	r := sweep(t, s)
	wantFindings(t, "findings", r.Findings, "no_ttl lock:order:1")
	want := []report.Excluded{
		{Exclusion: report.Exclusion{Pattern: "lock:legacy:*", Until: until, Reason: "OPS-1: rewritten this quarter"},
			Findings: 2},
	}
	if len(r.Excluded) != 2 || r.Excluded[0] != want[0] || !r.Excluded[1].Ended ||
		r.Excluded[1].Findings != 0 {
		t.Errorf("%+v", r.Excluded)
	}
	if !strings.Contains(log.String(), "exclusion has ended") {
		t.Errorf("nothing was said of the exclusion that has ended: %s", log.String())
	}
	d := report.NewDocument(r)
	if len(d.Excluded) != 2 || d.Excluded[0].Findings != 2 || d.Excluded[0].Reason != "OPS-1: rewritten this quarter" ||
		!d.Excluded[1].Ended {
		t.Errorf("%+v", d.Excluded)
	}
	clock.pass(20 * time.Minute)
	wantFindings(t, "after its end", sweep(t, s).Findings, "no_ttl lock:order:1", "no_ttl lock:legacy:1",
		"no_ttl lock:legacy:2")
}

// TestAnExclusionEndsKnownFindingsOfSystems as it does in Redis: it is resolved, and counts as excluded.
func TestAnExclusionEndsKnownFindingsOfSystems(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := scanner.WithMemory(scanner.FileStore(filepath.Join(t.TempDir(), "state")))
		l := &looks{}
		l.add(leak("db", "x", "1"))
		wantSweep(t, ofSystem(t, l, memory), "db:x", "", "")
		time.Sleep(time.Minute)
		s := ofSystem(t, l, memory, scanner.WithExclusions(report.Exclusion{Pattern: "x", Until: time.Now().Add(time.Hour),
			Reason: "known"}))
		if r := wantSweep(t, s, "", "", "db:x"); r.Excluded[0].Findings != 1 {
			t.Errorf("%+v", r.Excluded)
		}
	})
}

// TestExcludedOrphans also counts findings from the comparison of nodes.
func TestExcludedOrphans(t *testing.T) {
	n := startNodes(t, 3)
	must(t, n.clients[0].Set(within(t), "lock:orphan", lockscopeValue(token, time.Now()), time.Minute).Err())
	report := sweep(t, newScanner(t, n.clients, scanner.WithOneRedlock(), scanner.WithExclusions(
		report.Exclusion{Pattern: "lock:or*", Until: time.Now().Add(time.Hour), Reason: "known"})))
	wantFindings(t, "findings", report.Findings)
	if len(report.Excluded) != 1 || report.Excluded[0].Findings != 1 {
		t.Errorf("%+v", report.Excluded)
	}
}

func TestPolicyOptions(t *testing.T) {
	n := startNodes(t, 1)
	soon := time.Now().Add(time.Hour)
	for what, opt := range map[string]scanner.Option{
		"no pattern":       scanner.WithPolicies(report.Policy{MaxTTL: time.Hour}),
		"a negative limit": scanner.WithPolicies(report.Policy{Pattern: "lock:*", MaxTTL: -time.Hour}),
		"a tiny limit":     scanner.WithPolicies(report.Policy{Pattern: "lock:*", MaxHold: time.Microsecond}),
		"two of a name": scanner.WithPolicies(report.Policy{Name: "a", Pattern: "x"},
			report.Policy{Name: "a", Pattern: "y"}),
		"exclusion of nothing":  scanner.WithExclusions(report.Exclusion{Until: soon, Reason: "why"}),
		"exclusion for ever":    scanner.WithExclusions(report.Exclusion{Pattern: "lock:*", Reason: "why"}),
		"exclusion for nothing": scanner.WithExclusions(report.Exclusion{Pattern: "lock:*", Until: soon, Reason: " "}),
	} {
		if s, err := scanner.New(n.clients, opt); !errors.Is(err, scanner.ErrInvalidOption) {
			t.Errorf("%s: %v", what, err)
			if s != nil {
				must(t, s.Close())
			}
		}
	}
}
