package scanner_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/report"
)

// TestSilence sees a lock every few minutes for more than a day, and then not any more. Of the other locks one has an
// exclusion, and one stays.
func TestSilence(t *testing.T) {
	f := startNodes(t, 1)
	c, ctx, clock := f.clients[0], within(t), &clock{}
	var log bytes.Buffer
	s := newScanner(t, f.clients, scanner.WithNow(clock.now), scanner.WithEmptyAllowed(), scanner.WithGroup("batch"),
		scanner.WithLogger(slog.New(slog.NewTextHandler(&log, nil))),
		scanner.WithExclusions(report.Exclusion{Pattern: "lock:idle", Until: time.Now().Add(1000 * time.Hour), Reason: "test"}))
	for _, key := range []string{"lock:report", "lock:idle", "lock:stays"} {
		must(t, c.Set(ctx, key, randomToken(), time.Hour).Err())
	}
	look := func(times int) int {
		for range times {
			clock.pass(4 * time.Minute)
			sweep(t, s)
		}
		return s.Snapshot().Last.Silents
	}
	if n := look(25 * 15); n != 0 {
		t.Fatalf("%d silent locks while all are there", n)
	}
	must(t, c.Del(ctx, "lock:report", "lock:idle").Err())
	if n := look(2); n != 0 {
		t.Errorf("%d silent locks after 8 minutes", n)
	}
	if n := look(3); n != 1 {
		t.Errorf("%d silent locks after 20 minutes", n)
	}
	all, end := s.Snapshot().Last.Silent, clock.now().Add(-20*time.Minute)
	if len(all) != 1 || all[0].Key != "lock:report" || all[0].Group != "batch" || end.Sub(all[0].LastSeen).Abs() > time.Minute ||
		end.Sub(all[0].FirstSeen) < 24*time.Hour || all[0].Usual < 240 || all[0].Usual > 300 {
		t.Errorf("the report has %+v", all)
	}
	if text := log.String(); strings.Count(text, "silent lock") != 1 || !strings.Contains(text, "key=lock:report") {
		t.Errorf("the log says %s", text)
	}
	must(t, c.Set(ctx, "lock:report", randomToken(), time.Hour).Err())
	if n := look(1); n != 0 || !strings.Contains(log.String(), "seen again") {
		t.Errorf("%d silent locks after it came back", n)
	}
}

// TestSilenceNeedsWholeSweeps: a lock whose value was not read may be there.
func TestSilenceNeedsWholeSweeps(t *testing.T) {
	f := startNodes(t, 1)
	c, ctx, clock := f.clients[0], within(t), &clock{}
	s := newScanner(t, f.clients, scanner.WithNow(clock.now), scanner.WithMaxValues(2))
	for _, key := range []string{"lock:report", "lock:stays"} {
		must(t, c.Set(ctx, key, randomToken(), time.Hour).Err())
	}
	look := func(times int) int {
		for range times {
			clock.pass(4 * time.Minute)
			sweep(t, s)
		}
		return s.Snapshot().Last.Silents
	}
	look(25 * 15)
	must(t, c.Rename(ctx, "lock:report", "lock:other").Err())
	must(t, c.Set(ctx, "lock:third", randomToken(), time.Hour).Err())
	if n := look(10); n != 0 {
		t.Errorf("%d silent locks, of sweeps that did not read all", n)
	}
}

// TestSilenceOfSystem: a sweep of a system beside Redis sees the locks that are held there. One that cannot list them
// judges nothing.
func TestSilenceOfSystem(t *testing.T) {
	clock, l := &clock{}, &looks{}
	s := ofSystem(t, l, scanner.WithNow(clock.now),
		scanner.WithExclusions(report.Exclusion{Pattern: "lock:idle", Until: time.Now().Add(1000 * time.Hour), Reason: "test"}))
	look := func(times int) report.Report {
		for range times {
			clock.pass(4 * time.Minute)
			sweep(t, s)
		}
		return s.Snapshot().Last
	}
	l.held = []inspect.HeldLock{{Key: "lock:report"}, {Key: "lock:idle"}, {Key: "lock:stays"}}
	look(25 * 15)
	l.held, l.deaf = l.held[2:], errors.New("refused")
	if r := look(10); r.Silents != 0 || len(r.Nodes) != 1 || r.Nodes[0].Err != nil {
		t.Errorf("40 minutes without a list: %+v", r)
	}
	l.deaf = nil
	if r := look(2); r.Silents != 0 {
		t.Errorf("8 minutes with one: %+v", r.Silent)
	}
	if r := look(3); r.Silents != 1 || r.Silent[0].Key != "lock:report" {
		t.Errorf("20 minutes with one: %+v", r.Silent)
	}
}

// TestSilenceGoesOn in the Scanner that replaces another one, unless they see different locks.
func TestSilenceGoesOn(t *testing.T) {
	f := startNodes(t, 2)
	c, ctx, clock := f.clients[0], within(t), &clock{}
	for _, key := range []string{"lock:report", "lock:stays"} {
		must(t, c.Set(ctx, key, randomToken(), time.Hour).Err())
	}
	of := func(clients []redis.UniversalClient, opts ...scanner.Option) *scanner.Scanner {
		return newScanner(t, clients, append(opts, scanner.WithNow(clock.now), scanner.WithEmptyAllowed())...)
	}
	look := func(s *scanner.Scanner, times int) int {
		for range times {
			clock.pass(4 * time.Minute)
			sweep(t, s)
		}
		return s.Snapshot().Last.Silents
	}
	one := f.clients[:1]
	first := of(one)
	look(first, 25*15)
	must(t, c.Del(ctx, "lock:report").Err())
	look(first, 1)
	must(t, first.Close())
	second := of(one, scanner.WithSilenceOf(first))
	if n := look(second, 5); n != 1 {
		t.Errorf("%d silent locks in the Scanner that goes on", n)
	}
	if n := look(of(one, scanner.WithSilenceOf(second), scanner.WithDeadline(time.Minute)), 1); n != 1 {
		t.Errorf("%d silent locks in the one after that", n)
	}
	idle := report.Exclusion{Pattern: "lock:idle", Until: time.Now().Add(1000 * time.Hour), Reason: "test"}
	for what, other := range map[string]*scanner.Scanner{
		"patterns":   of(one, scanner.WithSilenceOf(second), scanner.WithPatterns("lock:*", "job:*")),
		"exclusions": of(one, scanner.WithSilenceOf(second), scanner.WithExclusions(idle)),
		"nodes":      of(f.clients, scanner.WithSilenceOf(second)),
		"system":     ofSystem(t, &looks{}, scanner.WithSilenceOf(second), scanner.WithNow(clock.now)),
	} {
		if n := look(other, 1); n != 0 {
			t.Errorf("%d silent locks with other %s", n, what)
		}
	}
}
