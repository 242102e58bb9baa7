package scanner_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/listing"
	"github.com/lockscope/lockscope/scanner/repair"
	"github.com/lockscope/lockscope/scanner/report"
)

// looks is a system whose answers a test orders. A sweep calls it from the test's goroutine.
type looks struct {
	now    inspect.Look
	err    error
	asked  int
	onLook func(asked int)
	locks  []listing.Lock
	closed bool
}

func (*looks) Backend() string { return "etcd" }
func (*looks) Node() string    { return "etcd-0:2379" }

func (l *looks) Look(context.Context) (inspect.Look, error) {
	l.asked++
	if l.onLook != nil {
		l.onLook(l.asked)
	}
	return l.now, l.err
}

func (l *looks) List(context.Context) ([]listing.Lock, *listing.Waits, error) {
	return l.locks, &listing.Waits{Of: 1}, l.err
}

func (l *looks) Close() error { l.closed = true; return nil }

func leak(place, key, identity string) inspect.Leak {
	return inspect.Leak{Class: inspect.NoTTL, Place: place, Key: key, Type: "key", TTL: -1, Evidence: "no lease",
		Identity: identity}
}

func ofSystem(t *testing.T, l *looks, opts ...scanner.Option) *scanner.Scanner {
	t.Helper()
	s, err := scanner.NewSystem(l, append(opts, scanner.WithConfirmAfter(5*time.Second))...)
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

func (l *looks) add(leak inspect.Leak) { l.now.Leaks = append(l.now.Leaks, leak) }

func keys(all []report.Finding) (text string) {
	for _, f := range all {
		text += f.Place + ":" + f.Key + " "
	}
	return strings.TrimSpace(text)
}

// wantSweep checks one sweep: confirmed, pending, resolved.
func wantSweep(t *testing.T, s *scanner.Scanner, confirmed, pending, resolved string) report.Report {
	t.Helper()
	r, _ := s.Sweep(t.Context())
	if keys(r.Findings) != confirmed || keys(r.Pending) != pending || keys(r.Resolved) != resolved {
		t.Errorf("confirmed %q, pending %q, resolved %q; want %q, %q, %q", keys(r.Findings), keys(r.Pending),
			keys(r.Resolved), confirmed, pending, resolved)
	}
	return r
}

// TestSystemConfirms a finding that two looks show with the same identity, and resolves one that is gone.
func TestSystemConfirms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &looks{}
		s := ofSystem(t, l)
		l.now.Count(3, "keys")
		r := wantSweep(t, s, "", "", "")
		if l.asked != 1 || len(r.Incomplete()) != 0 || r.Nodes[0].Backend != "etcd" || r.Nodes[0].Matched["keys"] != 3 {
			t.Errorf("%d looks, %+v", l.asked, r)
		}
		l.add(leak("a", "stays", "1"))
		l.add(leak("b", "stays", "1"))
		l.add(leak("", "moves", "1"))
		l.onLook = func(asked int) {
			if asked == 3 { // somebody took it again in between
				l.now.Leaks[2].Identity = "2"
			}
		}
		began := time.Now()
		r = wantSweep(t, s, "a:stays b:stays", "", "")
		if took := time.Since(began); took != 5*time.Second || l.asked != 3 || r.Nodes[0].Counts[inspect.NoTTL] != 2 {
			t.Errorf("confirmed after %v and %d looks: %+v", took, l.asked, r.Nodes[0])
		}
		l.now.Leaks = l.now.Leaks[1:2]
		l.onLook = nil
		wantSweep(t, s, "b:stays", "", "a:stays")
		wantSweep(t, s, "b:stays", "", "")
		if l.asked != 5 {
			t.Errorf("%d looks: what is confirmed needs no second one", l.asked)
		}
		if first := s.Snapshot().Nodes[0].OldestLeak; first < 5*time.Second {
			t.Errorf("the oldest leak was first seen %v ago", first)
		}
	})
}

// TestSystemMaxFindings keeps the same findings every time, whatever the order of a look.
func TestSystemMaxFindings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &looks{}
		for _, key := range []string{"e", "b", "d", "a", "c", "f"} {
			l.add(leak("", key, "1"))
		}
		for range 20 {
			s := ofSystem(t, l, scanner.WithMaxFindings(2))
			if r := wantSweep(t, s, ":a :b", "", ""); r.Overflow != 4 {
				t.Errorf("%d findings were counted only", r.Overflow)
			}
		}
	})
}

// TestSystemThatFails keeps its findings, and so does a look that hides them.
func TestSystemThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &looks{}
		l.add(leak("", "x", "1"))
		l.add(leak("", "y", "1"))
		s := ofSystem(t, l)
		wantSweep(t, s, ":x :y", "", "")
		full := l.now
		time.Sleep(time.Second)
		l.now, l.err = inspect.Look{}, errors.New("etcd etcd-0:2379: no member answered")
		r := wantSweep(t, s, ":x :y", "", "")
		if n := s.Snapshot().Nodes[0]; n.Up || n.PassFailures != 1 || !n.LastSuccess.Before(r.Started) ||
			r.Incomplete()[0].Reason != inspect.ReasonNodeFailed {
			t.Errorf("%+v: %+v", n, r.Incomplete())
		}
		l.err = nil
		l.now.Gap(inspect.ReasonValuesUnread, "may not read x")
		l.now.Hide(func(f *inspect.Leak) bool { return f.Key == "x" })
		wantSweep(t, s, ":x", "", ":y")
		l.now = full
		ctx, cancel := context.WithCancel(t.Context())
		l.onLook = func(int) { cancel() }
		r, err := s.Sweep(ctx)
		if !errors.Is(err, context.Canceled) || r.Nodes[0].Err != nil || !r.Nodes[0].Truncated || keys(r.Findings) != ":x" ||
			keys(r.Pending) != ":y" {
			t.Errorf("interrupted: %v, %+v", err, r)
		}
		l.onLook = nil
		time.Sleep(time.Minute)
		before := l.asked
		wantSweep(t, s, ":x :y", "", "")
		if l.asked != before+1 {
			t.Errorf("%d looks: the look of the interrupted sweep was the first one", l.asked-before)
		}
	})
}

// TestSystemRemembers since when a finding is known, and resolves one that ended while no process ran.
func TestSystemRemembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "state")
		l := &looks{}
		l.add(leak("db", "x", "1"))
		l.add(leak("db", "y", "1"))
		first := wantSweep(t, ofSystem(t, l, scanner.WithMemory(scanner.FileStore(path))), "db:x db:y", "", "")
		time.Sleep(time.Hour)
		l.now.Leaks = l.now.Leaks[:1]
		next := wantSweep(t, ofSystem(t, l, scanner.WithMemory(scanner.FileStore(path))), "db:x", "", "db:y")
		if !next.Findings[0].FirstSeen.Equal(first.Findings[0].FirstSeen) || next.Resolved[0].Backend != "etcd" {
			t.Errorf("%+v, after %+v", next, first.Findings[0])
		}
	})
}

// TestSystemBounds keeps as many findings as are asked for, one for each lock, and none that is excluded.
func TestSystemBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &looks{}
		l.add(leak("", "excluded", "1"))
		for i, since := range []int{30, 90, 60} {
			f := leak("", "shared", "abc"[i:i+1])
			f.Hold.Holder = lock.Holder{Instance: f.Identity, Since: time.Now().Add(-time.Duration(since) * time.Minute)}
			l.add(f)
		}
		s := ofSystem(t, l, scanner.WithExclusions(report.Exclusion{Pattern: "exc*", Until: time.Now().Add(time.Hour),
			Reason: "known"}), scanner.WithMaxFindings(1))
		r := wantSweep(t, s, ":shared", "", "")
		if f := r.Findings[0]; f.Hold.Instance != "b" || !strings.HasSuffix(f.Evidence, "holders beside it: 2") ||
			r.Excluded[0].Findings != 1 || r.Overflow != 0 {
			t.Errorf("%+v", r)
		}
		l.add(leak("", "more", "1"))
		if r := wantSweep(t, s, ":shared", "", ""); r.Overflow != 1 || r.Nodes[0].Counts[inspect.NoTTL] != 2 {
			t.Errorf("%+v", r)
		}
		if _, err := s.Repair(t.Context(), r.Findings[0], repair.Delete()); !errors.Is(err, repair.ErrNotRepairable) {
			t.Errorf("repair: %v", err)
		}
	})
}

// TestSystemLists its locks in the order that is asked for, and closes.
func TestSystemLists(t *testing.T) {
	l := &looks{locks: []listing.Lock{{Key: "lock:b", Resource: "b"}, {Key: "lock:a", Resource: "a"},
		{Key: "lock:c", Resource: "c"}}}
	s, err := scanner.NewSystem(l)
	must(t, err)
	all, err := s.List(t.Context(), listing.Options{Order: listing.ByResource, Limit: 2, Waits: true})
	must(t, err)
	if !slices.Equal(listedKeys(all), []string{"lock:a", "lock:b"}) || all.Omitted != 1 || all.Waits == nil || all.Truncated {
		t.Errorf("%+v", all)
	}
	if all, err = s.List(t.Context(), listing.Options{Glob: "[ac]", Contains: "c"}); len(all.Locks) != 1 || err != nil {
		t.Errorf("%+v, %v", all, err)
	}
	l.err = errors.New("down")
	if all, err = s.List(t.Context(), listing.Options{}); err == nil || !all.Truncated || all.Nodes[0].Err == nil {
		t.Errorf("%+v, %v", all, err)
	}
	must(t, s.Close())
	if _, err := s.Sweep(t.Context()); !errors.Is(err, scanner.ErrClosed) || !l.closed {
		t.Errorf("after Close: %v", err)
	}
}
