package scanner_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/repair"
	"github.com/lockscope/lockscope/scanner/report"
)

// repairers are the two ways to repair: by script, and by WATCH if the user may not run scripts.
func repairers(t *testing.T, f *nodes) map[string]redis.UniversalClient {
	var rules []string
	for _, rule := range append(scanner.ListACL(), scanner.RepairACL()...) {
		if !strings.Contains(rule, "eval") {
			rules = append(rules, rule)
		}
	}
	return map[string]redis.UniversalClient{"script": f.clients[0],
		"watch": aclClient(t, f.servers[0].Addr(), f.clients[0], rules)}
}

func repaired(t testing.TB, s *scanner.Scanner, f report.Finding, a repair.Action,
	want inspect.Outcome) repair.Result {
	t.Helper()
	r, err := s.Repair(within(t), f, a)
	if err != nil || r.Outcome != want {
		t.Errorf("%v of %s %s: %s, %v; want %s", a, f.Class, inspect.KeyText(f.Key), r.Outcome, err, want)
	}
	return r
}

// TestRepairEverything repairs every kind of finding, in locks of every format whose value is one lease's: a dry run,
// the repair, and the repair again.
func TestRepairEverything(t *testing.T) {
	left := []string{"lock:setnx:leak", "lock:setnx:long", "lock:empty:leak", "lock:empty:long", "lock:long",
		"lock:redislock:leak", "lock:redislock:long", "lock:redisson:leak", "lock:redisson:long", "lock:rw:leak",
		"lock:rw:long", "lock:lockscope:zombie"}
	f := startNodes(t, 1)
	c := f.clients[0]
	for way, client := range repairers(t, f) {
		for _, action := range []repair.Action{repair.Delete(), repair.Expire(10 * time.Second)} {
			must(t, c.FlushAll(within(t)).Err())
			plant(t, c, time.Now())
			s := newScanner(t, []redis.UniversalClient{client})
			r := sweep(t, s)
			wantFindings(t, way, r.Findings, planted()...)
			done := map[string]bool{}
			for _, finding := range r.Findings {
				if finding.Class == inspect.ForeignType || slices.Contains(left, finding.Key) {
					if _, err := s.Repair(within(t), finding, action); !errors.Is(err, repair.ErrNotRepairable) {
						t.Errorf("%s: %v of %s: %v", way, action, finding.Key, err)
					}
					continue
				}
				if done[finding.Key] {
					continue // two findings of one key
				}
				done[finding.Key] = true
				before := c.PTTL(within(t), finding.Key).Val()
				repaired(t, s, finding, action.DryRun(), inspect.WouldDo)
				if after := c.PTTL(within(t), finding.Key).Val(); before < 0 && after != before ||
					after < before-time.Minute {
					t.Errorf("%s: a dry run of %v changed %q: PTTL %v to %v", way, action, finding.Key, before, after)
				}
				repaired(t, s, finding, action, inspect.Done)
				ttl := c.PTTL(within(t), finding.Key).Val()
				if action == repair.Delete() {
					repaired(t, s, finding, action, inspect.Gone)
					if ttl != -2 {
						t.Errorf("%s: %q was not deleted", way, finding.Key)
					}
				} else {
					repaired(t, s, finding, action, inspect.Changed)
					if ttl <= 0 || ttl > 10*time.Second {
						t.Errorf("%s: %q expires in %v", way, finding.Key, ttl)
					}
				}
			}
			if len(done) != 9 {
				t.Errorf("%s: %d keys were repaired, want 9", way, len(done))
			}
			if n := c.Exists(within(t), left...).Val(); int(n) != len(left) {
				t.Errorf("%s: %d of %d keys are left whose lease is not known or not over", way, n, len(left))
			}
			if n := c.Exists(within(t), "lock:list", "lockscope:fence:{1}", "other:1", "lock:redsync:ok",
				"lock:profile").Val(); n != 5 {
				t.Errorf("%s: %d of 5 bystanders are left", way, n)
			}
		}
	}
}

// TestRepairComparesAll changes one thing at a time between the finding and its repair.
func TestRepairComparesAll(t *testing.T) {
	f := startNodes(t, 1)
	c := f.clients[0]
	since := time.Now().Add(-3 * time.Hour)
	for way, client := range repairers(t, f) {
		for name, test := range map[string]struct {
			key    string
			change func(key string) error
			action repair.Action
			want   inspect.Outcome
		}{
			"nothing": {"leak", func(string) error { return nil }, repair.Delete(), inspect.Done},
			"gone": {"leak", func(k string) error { return c.Del(within(t), k).Err() }, repair.Delete(),
				inspect.Gone},
			"other value": {"leak", func(k string) error {
				return c.Set(within(t), k,
					redsyncOf(k), 0).Err()
			}, repair.Delete(), inspect.Changed},
			"longer value": {"leak", func(k string) error { return c.Append(within(t), k, "x").Err() },
				repair.Delete(), inspect.Changed},
			"got a TTL": {"leak", func(k string) error { return c.Expire(within(t), k, time.Hour).Err() },
				repair.Delete(), inspect.Changed},
			"other type": {"leak", func(k string) error {
				c.Del(within(t), k)
				return c.RPush(within(t), k,
					"x").Err()
			}, repair.Delete(), inspect.Changed},
			"renewed": {"zombie", func(k string) error { return c.Expire(within(t), k, 30*time.Minute).Err() },
				repair.Delete(), inspect.Done},
			"shortened": {"zombie", func(k string) error { return c.Expire(within(t), k, 10*time.Second).Err() },
				repair.Delete(), inspect.Changed},
			"lost its TTL": {"zombie", func(k string) error { return c.Persist(within(t), k).Err() }, repair.Delete(),
				inspect.Changed},
			"ends sooner": {"zombie", func(string) error { return nil }, repair.Expire(2 * time.Hour),
				inspect.Changed},
		} {
			must(t, c.FlushAll(within(t)).Err())
			set(t, c, "lock:leak", redsyncValue, 0)
			set(t, c, "lock:zombie", shedLockValue(since), 20*time.Minute)
			s := newScanner(t, []redis.UniversalClient{client})
			class := inspect.NoTTL
			if test.key == "zombie" {
				class = inspect.HeldTooLong
			}
			finding := find(t, sweep(t, s).Findings, class, "lock:"+test.key)
			must(t, test.change(finding.Key))
			before, _ := c.Dump(within(t), finding.Key).Result()
			r, err := s.Repair(within(t), finding, test.action)
			if err != nil || r.Outcome != test.want {
				t.Errorf("%s: %s: %s, %v; want %s", way, name, r.Outcome, err, test.want)
			}
			if after, _ := c.Dump(within(t), finding.Key).Result(); test.want != inspect.Done && after != before {
				t.Errorf("%s: %s: the key was touched", way, name)
			}
		}
	}
}

func TestRepairRefuses(t *testing.T) {
	f := startNodes(t, 2)
	c := f.clients[0]
	set(t, c, "lock:leak", redsyncValue, 0)
	set(t, c, "lockscope:fence:{1}", "99", 0)
	set(t, c, "other", redsyncValue, 0)
	s := newScanner(t, f.clients)
	own := find(t, sweep(t, s).Findings, inspect.NoTTL, "lock:leak")
	other := newScanner(t, f.clients)
	everything := newScanner(t, f.clients, scanner.WithPatterns("*"))
	wide := find(t, sweep(t, everything).Findings, inspect.NoTTL, "other")
	forged := report.Finding{Class: inspect.NoTTL, Node: own.Node, Key: own.Key, Type: "string", TTL: -1,
		Confirmed: true}
	elsewhere, helper := own, own
	elsewhere.Node = f.servers[1].Addr()
	helper.Key = "lockscope:fence:{1}"
	for name, test := range map[string]struct {
		s    *scanner.Scanner
		f    report.Finding
		a    repair.Action
		want error
	}{
		"another scanner's":   {other, own, repair.Delete(), repair.ErrNotConfirmed},
		"forged":              {s, forged, repair.Delete(), repair.ErrNotRepairable},
		"empty":               {s, report.Finding{}, repair.Delete(), repair.ErrNotRepairable},
		"another node's":      {s, elsewhere, repair.Delete(), repair.ErrNotConfirmed},
		"helper key":          {everything, helper, repair.Delete(), repair.ErrNotRepairable},
		"outside the pattern": {s, wide, repair.Delete(), repair.ErrNotRepairable},
		"no action":           {s, own, repair.Action{}, repair.ErrInvalidAction},
		"expire at once":      {s, own, repair.Expire(0), repair.ErrInvalidAction},
		"expire before":       {s, own, repair.Expire(-time.Hour), repair.ErrInvalidAction},
	} {
		r, err := test.s.Repair(within(t), test.f, test.a)
		if failed, ok := errors.AsType[*repair.Error](err); !errors.Is(err, test.want) || !ok ||
			failed.Key != test.f.Key || r.Outcome != "" {
			t.Errorf("%s: %s, %v; want %v", name, r.Outcome, err, test.want)
		}
	}
	must(t, s.Close())
	if _, err := s.Repair(within(t), own, repair.Delete()); !errors.Is(err, scanner.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if n := c.Exists(within(t), "lock:leak", "lockscope:fence:{1}", "other").Val(); n != 3 {
		t.Errorf("%d of 3 keys are left", n)
	}
}

func TestRepairPendingIsRefused(t *testing.T) {
	f := startNodes(t, 1)
	set(t, f.clients[0], "lock:leak", redsyncValue, 0)
	ctx := within(t)
	short, stop := context.WithCancel(ctx)
	defer stop()
	s := newScanner(t, f.clients, scanner.WithConfirmAfter(time.Hour), scanner.WithDeadline(2*time.Hour),
		scanner.WithProgress(func(p report.Progress) {
			if p.Done { // its finding is not confirmed
				stop()
			}
		}))
	r, _ := s.Sweep(short)
	pending := find(t, r.Pending, inspect.NoTTL, "lock:leak")
	pending.Confirmed = true
	if _, err := s.Repair(ctx, pending, repair.Delete()); !errors.Is(err, repair.ErrNotConfirmed) {
		t.Errorf("%v, want ErrNotConfirmed", err)
	}
}

// TestRepairInACluster repairs keys on each master.
func TestRepairInACluster(t *testing.T) {
	t.Parallel()
	procs := locktest.Cluster(t, 3)
	c := clusterClient(t, procs)
	rules := append(scanner.ListACL(), scanner.RepairACL()...)
	for _, addr := range procs.Addrs() {
		admin := redis.NewClient(&redis.Options{Addr: addr})
		aclClient(t, addr, admin, rules)
		must(t, admin.Close())
	}
	limited := redis.NewClusterClient(&redis.ClusterOptions{Addrs: procs.Addrs(), Username: "scanner",
		Password: "acl-secret"})
	t.Cleanup(func() { _ = limited.Close() })
	s := newScanner(t, []redis.UniversalClient{limited})
	keys := []string{"lock:bin\x00\xff\r\n", "lock:{tag}", "lock:{", "lock:é"}
	for i := range 30 {
		keys = append(keys, fmt.Sprint("lock:", i))
	}
	for _, key := range keys {
		set(t, c, key, redsyncOf(key), 0)
	}
	report := sweep(t, s)
	if len(report.Findings) != len(keys) || len(report.Nodes) != 3 {
		t.Fatalf("%d findings on %d nodes", len(report.Findings), len(report.Nodes))
	}
	for i, finding := range report.Findings {
		action := []repair.Action{repair.Delete(), repair.Expire(time.Hour)}[i%2]
		repaired(t, s, finding, action.DryRun(), inspect.WouldDo)
		repaired(t, s, finding, action, inspect.Done)
	}
	if report := sweep(t, s); len(report.Findings) != 0 || len(report.Resolved) != len(keys) {
		t.Errorf("afterwards %v, resolved %d", brief(report.Findings), len(report.Resolved))
	}
}

func TestRepairIsLoggedAndActionsAreText(t *testing.T) {
	f := startNodes(t, 1)
	key := "lock:\x1b[31m" + strings.Repeat("k", 10_000)
	set(t, f.clients[0], key, lockscopeValue(token, time.Now()), 0)
	var log bytes.Buffer
	s := newScanner(t, f.clients, scanner.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	finding := find(t, sweep(t, s).Findings, inspect.NoTTL, key)
	log.Reset()
	action, err := repair.ParseAction("expire=90m")
	must(t, err)
	repaired(t, s, finding, action.DryRun(), inspect.WouldDo)
	_, err = s.Repair(within(t), finding, repair.Action{})
	for _, want := range []string{`action="expire=1h30m0s (dry run)"`, "outcome=would_do", "node=" +
		f.servers[0].Addr(), "class=no_ttl", "lock not repaired"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log has no %s: %s", want, log.String())
		}
	}
	for _, text := range []string{log.String(), err.Error()} {
		if strings.Contains(text, token) || strings.Contains(text, "\x1b") || len(text) > 4000 {
			t.Errorf("shows too much: %.4000q", text)
		}
	}
	for _, bad := range []string{"", "expire", "expire=", "expire=x", "expire=-1s", "expire=0", "Delete", "delete=1h"} {
		if a, err := repair.ParseAction(bad); !errors.Is(err, repair.ErrInvalidAction) {
			t.Errorf("ParseAction(%q) = %v, %v", bad, a, err)
		}
	}
	if a, err := repair.ParseAction("delete"); err != nil || a != repair.Delete() || a.String() != "delete" {
		t.Errorf("ParseAction(delete) = %v, %v", a, err)
	}
}
