package scanner_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/repair"
	"github.com/lockscope/lockscope/scanner/report"
)

// wantSkipped requires a complete report that says the check for orphans was skipped.
func wantSkipped(t *testing.T, what string, r report.Report, says string) {
	t.Helper()
	wantGaps(t, what, r)
	if len(r.Skipped) != 1 || r.Skipped[0].Reason != inspect.ReasonOrphans ||
		!strings.Contains(r.Skipped[0].Detail, says) {
		t.Errorf("%s: skipped %+v, want %q", what, r.Skipped, says)
	}
	for _, f := range r.Findings {
		if f.Class == inspect.Orphan {
			t.Errorf("%s: %s is an orphan", what, f.Key)
		}
	}
}

// TestOrphansWantOneRedlock: a lock on one of several servers is an orphan only if these servers have its quorum.
func TestOrphansWantOneRedlock(t *testing.T) {
	f := startNodes(t, 4)
	ctx := within(t)
	for i, c := range f.clients {
		set(t, c, fmt.Sprint("lock:", i), lockscopeValue(tokenOf(fmt.Sprint(i)), time.Now()), time.Minute)
	}
	look := func(clients []redis.UniversalClient, opts ...scanner.Option) report.Report {
		return sweep(t, newScanner(t, clients, opts...))
	}
	three := f.clients[:3]
	wantSkipped(t, "unrelated", look(three), "does not say which Redlock")
	wantGaps(t, "asked for", look(three, scanner.WithChecks(inspect.Orphan, inspect.NoTTL)), inspect.ReasonOrphans)
	if r := look(three, scanner.WithChecks(inspect.NoTTL, inspect.LongTTL)); len(r.Skipped) != 0 {
		t.Errorf("not to be looked for: %+v", r.Skipped)
	}
	said := look(three, scanner.WithOneRedlock())
	wantFindings(t, "said", said.Findings, "orphan lock:0", "orphan lock:1", "orphan lock:2")
	wantGaps(t, "said", said)

	for _, c := range three {
		must(t, c.Del(ctx, c.Keys(ctx, "lock:*").Val()...).Err())
	}
	must(t, redlock.Vouch(ctx, three))
	for i, c := range three {
		set(t, c, fmt.Sprint("lock:", i), lockscopeValue(tokenOf(fmt.Sprint(i)), time.Now()), time.Minute)
	}
	wantFindings(t, "vouched for", look(three).Findings, "orphan lock:0", "orphan lock:1", "orphan lock:2")
	wantSkipped(t, "two of three", look(three[:2]), "a Redlock of 3 nodes, and the number given is 2")
	wantSkipped(t, "a stranger", look(f.clients[1:]), f.servers[3].Addr())
	_, port, _ := strings.Cut(f.servers[0].Addr(), ":")
	twice := redis.NewClient(&redis.Options{Addr: "localhost:" + port})
	t.Cleanup(func() { must(t, twice.Close()) })
	wantSkipped(t, "one twice", look([]redis.UniversalClient{three[0], three[1], twice}), "are the same server")

	must(t, f.servers[2].Kill())
	s := newScanner(t, three)
	report, err := s.Sweep(ctx)
	asNode(t, err, f.servers[2].Addr())
	wantFindings(t, "one is down: either could have two of three", report.Findings)
	if len(report.Skipped) != 0 {
		t.Errorf("%+v", report.Skipped)
	}
}

// TestMarkersOfOthersProveNothing: copied data brings its marker along.
func TestMarkersOfOthersProveNothing(t *testing.T) {
	f := startNodes(t, 6)
	ctx := within(t)
	must(t, redlock.Vouch(ctx, f.clients[:3]))
	for i, c := range f.clients[3:] {
		set(t, c, "lockscope:life", f.clients[i].Get(ctx, "lockscope:life").Val(), 0)
		set(t, c, fmt.Sprint("lock:", i), lockscopeValue(token, time.Now()), time.Minute)
	}
	wantSkipped(t, "copies", sweep(t, newScanner(t, f.clients[3:])), "came from another server")

	must(t, redlock.Vouch(ctx, f.clients[:3]))
	set(t, f.clients[0], "lock:a", lockscopeValue(token, time.Now()), time.Minute)
	clients := slices.Clone(f.clients[:3])
	clients[1] = aclClient(t, f.servers[1].Addr(), f.clients[1], scanner.ListACL())
	wantSkipped(t, "not readable", sweep(t, newScanner(t, clients)), "grant %R~lockscope:life")
}

// TestANodeThatMayHaveForgottenIsUnknown: a lock that such a node no longer has may be held with its vote.
func TestANodeThatMayHaveForgottenIsUnknown(t *testing.T) {
	for name, c := range map[string]struct {
		forget func(ctx context.Context, t *testing.T, f *nodes)
		opts   []scanner.Option
	}{
		"quarantine":           {restartInQuarantine, nil},
		"quarantine, declared": {restartInQuarantine, []scanner.Option{scanner.WithOneRedlock()}},
		"no marker, declared":  {restartEmpty, []scanner.Option{scanner.WithOneRedlock()}},
		"eviction":             {evict, nil},
		"eviction, declared":   {evict, []scanner.Option{scanner.WithOneRedlock()}},
	} {
		t.Run(name, func(t *testing.T) {
			f := startNodes(t, 5)
			ctx := within(t)
			must(t, redlock.Vouch(ctx, f.clients))
			for _, c := range f.clients[:2] {
				set(t, c, "lock:a", lockscopeValue(token, time.Now()), time.Hour/2)
			}
			s := newScanner(t, f.clients, c.opts...)
			p := planOf(t, s, inspect.Orphan)
			if len(p.Steps) != 2 {
				t.Fatalf("with all nodes known: %+v", p)
			}
			c.forget(ctx, t, f)
			wantSkipped(t, "forgotten", sweep(t, newScanner(t, f.clients, c.opts...)), f.servers[2].Addr())
			r := sweep(t, s)
			if len(r.Resolved) != 0 {
				t.Errorf("resolved %v while it cannot be told", brief(r.Resolved))
			}
			if r, err := begin(t, s, p).Apply(ctx, 0, false); !errors.Is(err, repair.ErrIncomplete) {
				t.Errorf("apply: %s, %v", r.Outcome, err)
			}
			if n := f.clients[0].Exists(ctx, "lock:a").Val() + f.clients[1].Exists(ctx, "lock:a").Val(); n != 2 {
				t.Errorf("the lock is left on %d of 2 nodes", n)
			}
		})
	}
}

func restartEmpty(ctx context.Context, t *testing.T, f *nodes) {
	must(t, f.servers[2].Kill())
	must(t, f.servers[2].Wipe())
	must(t, f.servers[2].Restart(ctx))
}

// restartInQuarantine has another acquire begin the quarantine.
func restartInQuarantine(ctx context.Context, t *testing.T, f *nodes) {
	restartEmpty(ctx, t, f)
	l, err := redlock.New(f.clients)
	must(t, err)
	defer func() { must(t, l.Close()) }()
	eventually(t, "a quarantine", func() bool {
		lease, err := l.Acquire(ctx, "other")
		must(t, err)
		must(t, lease.Release(ctx))
		return strings.HasPrefix(f.clients[2].Get(ctx, "lockscope:life").Val(), "quarantine|")
	})
}

// evict takes away what expires.
func evict(ctx context.Context, t *testing.T, f *nodes) {
	c := f.clients[2]
	set(t, c, "filler", "x", time.Hour)
	must(t, c.ConfigSet(ctx, "maxmemory-policy", "volatile-ttl").Err())
	must(t, c.ConfigSet(ctx, "maxmemory", "1").Err())
	eventually(t, "an eviction", func() bool { return c.Exists(ctx, "filler").Val() == 0 })
	must(t, c.ConfigSet(ctx, "maxmemory", "0").Err())
}
