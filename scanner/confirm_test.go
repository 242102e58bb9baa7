package scanner_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/report"
)

// between calls a function after the pages of every sweep and before its second look.
func between(do func()) scanner.Option {
	return scanner.WithProgress(func(p report.Progress) {
		if p.Done && do != nil {
			do()
		}
	})
}

func TestSecondLookForgives(t *testing.T) {
	f := startNodes(t, 1)
	c, ctx := f.clients[0], within(t)
	for _, tc := range []struct {
		name string
		act  func() error
	}{
		{"SETNX then EXPIRE", func() error { return c.Expire(ctx, "lock:a", time.Minute).Err() }},
		{"released", func() error { return c.Del(ctx, "lock:a").Err() }},
		{"taken by somebody else", func() error { return c.Set(ctx, "lock:a", "other", 0).Err() }},
		{"replaced by a list", func() error {
			return errors.Join(c.Del(ctx, "lock:a").Err(),
				c.RPush(ctx, "lock:a", 1).Err())
		}},
		{"still the same", nil},
	} {
		for _, path := range paths() {
			must(t, c.FlushAll(ctx).Err())
			must(t, c.SetNX(ctx, "lock:a", redsyncValue, 0).Err())
			alarms := 0
			s := newScanner(t, f.clients, scanner.UsePath(path),
				scanner.WithOnFinding(func(report.Finding) { alarms++ }),
				between(func() {
					if tc.act != nil {
						must(t, tc.act())
					}
				}))
			report := sweep(t, s)
			if want := tc.act == nil; (len(report.Findings) == 1) != want || (alarms == 1) != want {
				t.Errorf("%s, %s: %v, %d alarms", tc.name, path, brief(report.Findings), alarms)
			}
			if len(report.Pending) != 0 || len(report.Resolved) != 0 {
				t.Errorf("%s: pending %v, resolved %v", tc.name, brief(report.Pending), brief(report.Resolved))
			}
		}
	}
}

func TestConfirmTakesTheGrace(t *testing.T) {
	f := startNodes(t, 1)
	must(t, f.clients[0].Set(within(t), "lock:a", "1", 0).Err())
	const grace = 300 * time.Millisecond
	s := newScanner(t, f.clients, scanner.WithConfirmAfter(grace))
	for i, least := range []time.Duration{grace, 0} {
		report := sweep(t, s)
		wantFindings(t, "sweep", report.Findings, "no_ttl lock:a")
		if report.Took < least {
			t.Errorf("sweep %d took %v", i, report.Took)
		}
		finding := report.Findings[0]
		if !finding.Confirmed || finding.LastSeen.Sub(finding.FirstSeen) < grace {
			t.Errorf("sweep %d: confirmed %v after %v", i, finding.Confirmed, finding.LastSeen.Sub(finding.FirstSeen))
		}
	}
}

// TestLifeOfAFinding follows findings that appear once, last, and are resolved once.
func TestLifeOfAFinding(t *testing.T) {
	f := startNodes(t, 1)
	c, ctx := f.clients[0], within(t)
	var log strings.Builder
	var appeared, resolved []report.Finding
	s := newScanner(t, f.clients,
		scanner.WithLogger(slog.New(slog.NewTextHandler(&log, nil))),
		scanner.WithOnFinding(func(f report.Finding) { appeared = append(appeared, f) }),
		scanner.WithOnResolved(func(f report.Finding) { resolved = append(resolved, f) }))

	must(t, c.Set(ctx, "lock:a", "1", 0).Err())
	must(t, c.Set(ctx, "lock:b", "1", 0).Err())
	first := sweep(t, s).Findings
	for range 3 {
		report := sweep(t, s)
		wantFindings(t, "lasting", report.Findings, "no_ttl lock:a", "no_ttl lock:b")
		if !report.Findings[0].FirstSeen.Equal(first[0].FirstSeen) ||
			!report.Findings[0].LastSeen.After(first[0].LastSeen) {
			t.Error("first or last seen is wrong")
		}
	}
	wantFindings(t, "appeared once", appeared, "no_ttl lock:a", "no_ttl lock:b")

	must(t, c.Del(ctx, "lock:a").Err())
	must(t, c.Set(ctx, "lock:b", "somebody else", 0).Err())
	report := sweep(t, s)
	wantFindings(t, "resolved", report.Resolved, "no_ttl lock:a", "no_ttl lock:b")
	wantFindings(t, "the new holder's", report.Findings, "no_ttl lock:b")
	must(t, c.Expire(ctx, "lock:b", time.Minute).Err())
	report = sweep(t, s)
	wantFindings(t, "healed", report.Resolved, "no_ttl lock:b")
	report = sweep(t, s)
	wantFindings(t, "nothing", append(report.Findings, report.Resolved...))
	wantFindings(t, "callbacks", resolved, "no_ttl lock:a", "no_ttl lock:b", "no_ttl lock:b")
	if n := strings.Count(log.String(), `msg="leaked lock"`); n != 3 {
		t.Errorf("%d findings logged, want 3", n)
	}
	if n := strings.Count(log.String(), `msg="leaked lock resolved"`); n != 3 {
		t.Errorf("%d resolutions logged, want 3", n)
	}
}

func TestMaxFindings(t *testing.T) {
	f := startNodes(t, 1)
	c, ctx := f.clients[0], within(t)
	for i := range 30 {
		must(t, c.Set(ctx, fmt.Sprint("lock:", i), "1", 0).Err())
	}
	s := newScanner(t, f.clients, scanner.WithMaxFindings(10), scanner.WithPageSize(5))
	var kept []string
	for range 3 {
		report := sweep(t, s)
		if len(report.Findings) != 10 || report.Overflow != 20 {
			t.Errorf("%d findings, %d overflow, want 10, 20", len(report.Findings), report.Overflow)
		}
		if kept != nil && fmt.Sprint(kept) != fmt.Sprint(brief(report.Findings)) {
			t.Error("other findings were kept than before")
		}
		kept = brief(report.Findings)
	}
	// A free place is taken.
	for i := range 25 {
		must(t, c.Del(ctx, fmt.Sprint("lock:", i)).Err())
	}
	sweep(t, s)
	if report := sweep(t, s); len(report.Findings) != 5 || report.Overflow != 0 {
		t.Errorf("%d findings, %d overflow, want 5, 0", len(report.Findings), report.Overflow)
	}
}

// TestZombieRenewal holds a lock forever, in a format that does not record since when.
func TestZombieRenewal(t *testing.T) {
	f := startNodes(t, 1)
	c, ctx := f.clients[0], within(t)
	for _, path := range paths() {
		must(t, c.FlushAll(ctx).Err())
		var clk clock
		s := newScanner(t, f.clients, scanner.UsePath(path), scanner.WithNow(clk.now), scanner.WithHoldLimit(time.Hour))
		entered := 1
		renew := func() {
			must(t, c.Set(ctx, "lock:zombie", redsyncValue, 30*time.Second).Err())
			must(t, c.HSet(ctx, "lock:redisson", redissonID+":7", entered).Err())
			entered++ // it re-enters its lock
			must(t, c.Expire(ctx, "lock:redisson", 30*time.Second).Err())
			must(t, c.Set(ctx, "lock:busy", fmt.Sprint(clk.now()), 30*time.Second).Err())
		}
		for range 4 {
			renew()
			wantFindings(t, "before MaxHold", sweep(t, s).Findings)
			clk.pass(19 * time.Minute)
		}
		renew()
		r := sweep(t, s)
		wantFindings(t, "after MaxHold", r.Findings, "held_too_long lock:zombie", "held_too_long lock:redisson")
		zombie := find(t, r.Findings, inspect.HeldTooLong, "lock:zombie")
		if zombie.TTL <= 0 || !strings.Contains(zombie.Evidence, "1h16m") {
			t.Errorf("TTL %v, evidence %q", zombie.TTL, zombie.Evidence)
		}
		must(t, c.Set(ctx, "lock:zombie", "next", 30*time.Second).Err())
		wantFindings(t, "released", sweep(t, s).Resolved, "held_too_long lock:zombie")
	}
}

// TestWatchIsBounded has more locks than are watched. The report says so, and the watched ones stay.
func TestWatchIsBounded(t *testing.T) {
	f := startNodes(t, 1)
	c, ctx := f.clients[0], within(t)
	for i := range 30 {
		// One random token in some hundreds is not recognised as random, and counts from the third look on.
		must(t, c.Set(ctx, fmt.Sprint("lock:", i), fmt.Sprintf("q8Zr3LxV%02dTkJ7nWs2Yb==", i), time.Minute).Err())
	}
	var clk clock
	s := newScanner(t, f.clients, scanner.WithNow(clk.now), scanner.WithMaxWatched(10),
		scanner.WithHoldLimit(time.Hour))
	if n := sweep(t, s).Nodes[0]; n.Unwatched != 20 {
		t.Errorf("%d unwatched, want 20", n.Unwatched)
	}
	clk.pass(2 * time.Hour)
	report := sweep(t, s)
	if len(report.Findings) != 10 || report.Nodes[0].Unwatched != 20 {
		t.Errorf("%d findings, %d unwatched, want 10, 20", len(report.Findings), report.Nodes[0].Unwatched)
	}
	off := newScanner(t, f.clients, scanner.WithNow(clk.now), scanner.WithMaxWatched(0))
	if n := sweep(t, off).Nodes[0]; n.Unwatched != 0 {
		t.Errorf("%d unwatched with the watch off", n.Unwatched)
	}
}

// TestWatchHasRoomBesideLocksThatSaySince: locks that say since when they are held take no room from others, and are not
// counted as unwatched, nor in the next process.
func TestWatchHasRoomBesideLocksThatSaySince(t *testing.T) {
	f := startNodes(t, 1)
	c := f.clients[0]
	for i := range 50 {
		set(t, c, fmt.Sprint("lock:ours:", i), lockscopeValue(tokenOf(fmt.Sprint(i)), time.Now()), time.Minute)
	}
	memory := scanner.FileStore(filepath.Join(t.TempDir(), "state"))
	others := 0
	for range 3 {
		s := newScanner(t, f.clients, scanner.WithMaxWatched(20), scanner.WithMemory(memory))
		for range 2 {
			for ; others%10 != 9; others++ {
				set(t, c, fmt.Sprint("lock:", others), redsyncOf(fmt.Sprint(others)), time.Minute)
			}
			others++
			n := sweep(t, s).Nodes[0]
			if want := max(0, int64(others/10*9-20)); n.Unwatched != want || want == 0 && len(n.Gaps) != 0 {
				t.Errorf("%d other locks: %d unwatched, want %d: %v", others/10*9, n.Unwatched, want, n.Gaps)
			}
		}
		must(t, s.Close())
	}
}

// TestValuesAreReadInTurns finds in several sweeps what one sweep may not read.
func TestValuesAreReadInTurns(t *testing.T) {
	f := startNodes(t, 1)
	c, ctx := f.clients[0], within(t)
	var want []string
	for i := range 100 {
		must(t, c.Set(ctx, fmt.Sprint("lock:", i), lockscopeValue(token, time.Now().Add(-2*time.Hour)),
			time.Minute).Err())
		want = append(want, fmt.Sprint("held_too_long lock:", i))
	}
	for _, path := range paths() {
		s := newScanner(t, f.clients, scanner.WithMaxValues(30), scanner.WithPageSize(7), scanner.UsePath(path))
		for i, read := range []int{30, 60, 90, 100, 100} {
			report := sweep(t, s)
			unread := int64(70)
			if i == 3 {
				unread = 90
			}
			if len(report.Findings) != read || report.Nodes[0].Unread != unread {
				t.Errorf("%s, sweep %d: %d findings, %d unread, want %d, %d", path, i, len(report.Findings),
					report.Nodes[0].Unread, read, unread)
			}
		}
		all := newScanner(t, f.clients, scanner.WithMaxValues(scanner.AllValues), scanner.UsePath(path))
		wantFindings(t, "all values", sweep(t, all).Findings, want...)
		none := newScanner(t, f.clients, scanner.WithMaxValues(0), scanner.UsePath(path))
		if report := sweep(t, none); len(report.Findings) != 0 || report.Nodes[0].Unread != 100 {
			t.Errorf("%s: no values: %d findings, %d unread", path, len(report.Findings), report.Nodes[0].Unread)
		}
	}
}

// TestCancelMidSweep ends a sweep between two pages, as SIGTERM does.
func TestCancelMidSweep(t *testing.T) {
	f := startNodes(t, 1)
	c := f.clients[0]
	for i := range 100 {
		must(t, c.Set(within(t), fmt.Sprint("lock:", i), "1", 0).Err())
	}
	ctx, cancel := context.WithCancelCause(within(t))
	sigterm := errors.New("SIGTERM")
	notified := 0
	s := newScanner(t, f.clients, scanner.WithPageSize(10), scanner.WithConfirmAfter(time.Minute),
		scanner.WithNotifier(notifierFunc(func(context.Context, report.Report) error { notified++; return nil })),
		scanner.WithProgress(func(report.Progress) { cancel(sigterm) }))
	report, err := s.Sweep(ctx)
	if !errors.Is(err, sigterm) {
		t.Errorf("error %v, want SIGTERM", err)
	}
	n := report.Nodes[0]
	if !n.Truncated || n.Err != nil || n.Locks == 0 || n.Locks > 90 || len(report.Pending) == 0 ||
		len(report.Findings) != 0 || notified != 0 {
		t.Errorf("%+v, %d pending, %d findings, notified %d times", n, len(report.Pending), len(report.Findings),
			notified)
	}
}

// TestProgressOfPatterns does not come to the end with the first of two patterns.
func TestProgressOfPatterns(t *testing.T) {
	f := startNodes(t, 1)
	for i := range 100 {
		must(t, f.clients[0].Set(within(t), fmt.Sprint("lock:", i), "1", time.Hour).Err())
	}
	var shares []float64
	s := newScanner(t, f.clients, scanner.WithPageSize(10), scanner.WithPatterns("lock:*", "mutex:*"),
		scanner.WithProgress(func(p report.Progress) { shares = append(shares, p.Share) }))
	if _, err := s.Sweep(within(t)); err != nil {
		t.Fatal(err)
	}
	below := func(limit float64) (n int) {
		for _, s := range shares {
			if s < limit {
				n++
			}
		}
		return n
	}
	if !slices.IsSorted(shares) || below(0.5) < 3 || len(shares)-below(0.5) < 3 || shares[len(shares)-1] != 1 {
		t.Errorf("shares %v", shares)
	}
}

type notifierFunc func(context.Context, report.Report) error

func (f notifierFunc) Notify(ctx context.Context, r report.Report) error { return f(ctx, r) }

// TestDeadline cuts off sweep after sweep. Each confirms its findings, and the next one continues from there.
func TestDeadline(t *testing.T) {
	f := startNodes(t, 1)
	c := f.clients[0]
	const keys = 300
	var want []string
	for i := range keys {
		must(t, c.Set(within(t), fmt.Sprint("lock:", i), "1", 0).Err())
		want = append(want, fmt.Sprint("no_ttl lock:", i))
	}
	for _, path := range paths() {
		s := newScanner(t, f.clients, scanner.UsePath(path), scanner.WithPageSize(1),
			scanner.WithPause(10*time.Millisecond),
			scanner.WithDeadline(time.Second))
		confirmed := 0
		var report report.Report
		eventually(t, "a pass is complete", func() bool {
			report = sweep(t, s)
			n := report.Nodes[0]
			if !n.Truncated {
				return true
			}
			// When the time is up, every lock may have been seen, but that no other follows is not known.
			if n.Err != nil || n.Locks > keys {
				t.Errorf("%s: %+v", path, n)
			}
			confirmed = len(report.Findings)
			return false
		})
		if n := report.Nodes[0]; n.Locks != keys {
			t.Errorf("%s: %d locks in a pass, want %d", path, n.Locks, keys)
		}
		wantFindings(t, "a pass", report.Findings, want...)
		if confirmed == 0 {
			t.Errorf("%s: no truncated sweep has confirmed anything", path)
		}
	}
}

func TestNotifiers(t *testing.T) {
	f := startNodes(t, 1)
	must(t, f.clients[0].Set(within(t), "lock:a", "1", 0).Err())
	var got []report.Report
	broken := errors.New("nobody there")
	s := newScanner(t, f.clients,
		scanner.WithNotifier(notifierFunc(func(context.Context, report.Report) error { return broken })),
		scanner.WithNotifier(notifierFunc(func(_ context.Context,
			r report.Report) error {
			got = append(got, r)
			return nil
		})))
	report, err := s.Sweep(within(t))
	var failure *scanner.NotifyError
	if !errors.As(err, &failure) || !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	wantFindings(t, "report", report.Findings, "no_ttl lock:a")
	if len(got) != 1 || len(got[0].Findings) != 1 {
		t.Errorf("notified of %d reports", len(got))
	}
}
