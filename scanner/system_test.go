package scanner_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	inspect.Inspector
	now      inspect.Look
	err      error
	asked    int
	onLook   func(asked int)
	held     []inspect.HeldLock
	deaf     error // to HeldLocks alone
	hangs    bool  // HeldLocks does
	repaired []string
	closed   bool
}

func (*looks) System() string             { return "etcd" }
func (*looks) Address() string            { return "etcd-0:2379" }
func (*looks) Resource(key string) string { return strings.TrimPrefix(key, "lock:") }

func (l *looks) Leaks(context.Context, *inspect.Rules) (inspect.Look, error) {
	l.asked++
	if l.onLook != nil {
		l.onLook(l.asked)
	}
	return l.now, l.err
}

func (l *looks) HeldLocks(ctx context.Context) ([]inspect.HeldLock, error) {
	if l.hangs {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return l.held, cmp.Or(l.err, l.deaf)
}

func (l *looks) Waiting(context.Context) ([]inspect.Waiting, error) { return nil, l.err }

func (l *looks) Repair(_ context.Context, key, guard string, dry bool) (inspect.Outcome, error) {
	if l.repaired = append(l.repaired, fmt.Sprint(key, " ", guard, " ", dry)); key == "written" {
		return "", inspect.Unsafe("it was written")
	}
	return inspect.Done, l.err
}

func (l *looks) Close() { l.closed = true }

func leak(place, key, identity string) inspect.Leak {
	return inspect.Leak{Class: inspect.NoTTL, Place: place, Key: key, Type: "key", TTL: -1, Evidence: "no lease",
		Identity: identity}
}

func ofSystem(t *testing.T, l *looks, opts ...scanner.Option) *scanner.Scanner {
	t.Helper()
	s, err := scanner.NewSystem(l.open, inspect.Rules{}, append(opts, scanner.WithConfirmAfter(5*time.Second))...)
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

func (l *looks) open() (inspect.Inspector, error) { return l, nil }

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

// TestSystemThatHangsAfterItsLeaks: a sweep whose server stops answering before its held locks are read ends within
// seconds, so that the next one can say that the server is down.
func TestSystemThatHangsAfterItsLeaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &looks{hangs: true}
		s := ofSystem(t, l)
		began := time.Now()
		wantSweep(t, s, "", "", "")
		if took := time.Since(began); took > 15*time.Second {
			t.Errorf("the sweep took %v", took)
		}
	})
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
	l := &looks{held: []inspect.HeldLock{{Key: "lock:b"}, {Key: "lock:a"}, {Key: "lock:c"}}}
	s, err := scanner.NewSystem(l.open, inspect.Rules{})
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
	l.closed, l.err = false, nil
	_, err = s.Waits(t.Context())
	must(t, err)
	must(t, s.Close())
	if _, err := s.Sweep(t.Context()); !errors.Is(err, scanner.ErrClosed) || !l.closed {
		t.Errorf("after Close: %v", err)
	}
}

// TestSystemPlans what the last look says can be repaired, and acts on a step only as its plan says.
func TestSystemPlans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &looks{}
		for _, key := range []string{"left", "written", "held"} {
			found := leak("db", key, "1")
			if found.Guard, found.Unsafe = "version of "+key, "its holder is alive"; key != "held" {
				found.Action = inspect.Delete
			}
			l.add(found)
		}
		s := ofSystem(t, l, scanner.WithRepairMinAge(time.Minute))
		r, err := s.Sweep(t.Context())
		must(t, err)
		p, err := s.Plan(t.Context(), r, "ada", repair.Delete(), inspect.NoTTL)
		must(t, err)
		if len(p.Steps) != 2 || len(p.Refused) != 1 || !strings.HasSuffix(p.Refused[0].Reason, ": its holder is alive") ||
			p.Refused[0].Key != "db: held" || p.Steps[0].Backend != "etcd" || p.Steps[0].Place != "db" ||
			p.Steps[0].Digest != "version of left" || p.Steps[0].Action != "delete" || p.Servers[0] != "etcd-0:2379" {
			t.Fatalf("%+v", p)
		}
		run, err := s.Begin(p)
		must(t, err)
		if _, err := run.Apply(t.Context(), 0, false); !errors.Is(err, repair.ErrTooYoung) {
			t.Errorf("at once: %v", err)
		}
		time.Sleep(time.Minute)
		result, err := run.Apply(t.Context(), 0, true)
		must(t, err)
		if result.Outcome != inspect.Done || result.Action != repair.Delete().DryRun() || result.Key != "left" {
			t.Errorf("%+v", result)
		}
		if _, err := run.Apply(t.Context(), 1, false); !errors.Is(err, repair.ErrNotRepairable) ||
			!strings.HasSuffix(err.Error(), ": it was written") {
			t.Errorf("refused by the system: %v", err)
		}
		if want := []string{"left version of left true", "written version of written false"}; !slices.Equal(l.repaired, want) {
			t.Errorf("asked for %q, want %q", l.repaired, want)
		}
		p.Steps[0].Backend = "zookeeper"
		if _, err := s.Begin(p.Sealed()); !errors.Is(err, repair.ErrInvalidPlan) {
			t.Errorf("a plan for another system: %v", err)
		}
	})
}
