package scanner_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/repair"
	"github.com/lockscope/lockscope/scanner/report"
)

// TestLeakedPermit: a permit whose TTL somebody took away, as a snapshot of a persisted key does, is found, and the
// finding names the semaphore and the slot. So is the lease of an election that is held too long.
func TestLeakedPermit(t *testing.T) {
	nodes := startNodes(t, 1)
	l := engineOf(t, nodes, "exports-1")
	permit := lock.Slots(5)
	for _, resource := range []string{"exports#2", "exports#3"} {
		_, err := l.Acquire(t.Context(), resource, permit, lock.NoRenew(), lock.TTL(time.Minute))
		must(t, err)
	}
	_, err := l.Acquire(t.Context(), "billing", lock.OfKind(lock.KindElection),
		lock.NoRenew(), lock.TTL(time.Minute))
	must(t, err)
	for _, key := range []string{"lock:exports#3", "lock:billing"} {
		must(t, nodes.clients[0].Persist(t.Context(), key).Err())
	}
	r := sweep(t, newScanner(t, nodes.clients, fast()...))
	wantFindings(t, "a leaked permit and a leaked leadership", r.Findings, "no_ttl lock:billing", "no_ttl lock:exports#3")
	f := find(t, r.Findings, inspect.NoTTL, "lock:exports#3")
	const leak = "its TTL is -1: it stays until its holder or a person deletes it"
	if f.Evidence != "slot 3 of semaphore exports: "+leak || f.Hold.Kind != lock.KindSemaphore || f.Hold.Slots != 5 {
		t.Errorf("%+v", f)
	}
	if f := find(t, r.Findings, inspect.NoTTL, "lock:billing"); f.Evidence != "election billing: "+leak {
		t.Errorf("%+v", f)
	}
}

// TestOrphanedPermit: a slot that only one of three nodes has is found and repaired as any lock is. A permit of the
// same semaphore that all nodes have stays.
func TestOrphanedPermit(t *testing.T) {
	nodes := startNodes(t, 3)
	l := engineOf(t, nodes, "exports-1")
	permit := lock.Slots(5)
	for _, resource := range []string{"exports#2", "exports#3"} {
		_, err := l.Acquire(t.Context(), resource, permit, lock.NoRenew(), lock.TTL(time.Minute))
		must(t, err)
		eventually(t, "it is on all nodes", func() bool {
			n := int64(0)
			for _, c := range nodes.clients {
				n += c.Exists(within(t), "lock:"+resource).Val()
			}
			return n == 3
		})
	}
	for _, c := range nodes.clients[1:] {
		must(t, c.Del(t.Context(), "lock:exports#3").Err())
	}
	s := newScanner(t, nodes.clients, scanner.WithOneRedlock())
	r := sweep(t, s)
	wantFindings(t, "a slot on one node", r.Findings, "orphan lock:exports#3")
	f := find(t, r.Findings, inspect.Orphan, "lock:exports#3")
	if !strings.HasPrefix(f.Evidence, "slot 3 of semaphore exports: its token is on 1 of 3 nodes") {
		t.Errorf("%q", f.Evidence)
	}
	repaired(t, s, f, repair.Delete(), inspect.Done)
	wantFindings(t, "repaired", sweep(t, s).Findings)
}

// TestLongTerm: a leader that renews its term is healthy however long it has led, unless a limit for terms is set. A
// lock that is held as long, and a permit, are findings.
func TestLongTerm(t *testing.T) {
	nodes := startNodes(t, 1)
	l := engineOf(t, nodes, "exports-1")
	for resource, as := range map[string]lock.AcquireOption{
		"billing": lock.OfKind(lock.KindElection), "report": nil,
		"exports#1": lock.Slots(5),
	} {
		_, err := l.Acquire(t.Context(), resource, as, lock.NoRenew(), lock.TTL(time.Minute))
		must(t, err)
	}
	const hours = 30 * time.Hour
	held := []string{"held_too_long lock:exports#1", "held_too_long lock:report"}
	both := append(held, "held_too_long lock:billing")
	strict := report.Policy{Pattern: "lock:*", MaxHold: time.Hour}
	for name, c := range map[string]struct {
		opts []scanner.Option
		want []string
	}{
		"no limit for terms": {nil, held},
		"a longer limit":     {[]scanner.Option{scanner.WithTermLimit(100 * time.Hour)}, held},
		"a limit":            {[]scanner.Option{scanner.WithTermLimit(24 * time.Hour)}, both},
		"a policy for locks": {[]scanner.Option{scanner.WithPolicies(strict)}, held},
		"a policy, no limit of its own": {
			[]scanner.Option{scanner.WithPolicies(strict), scanner.WithTermLimit(time.Hour)}, both,
		},
		"a policy for terms": {[]scanner.Option{scanner.WithPolicies(report.Policy{
			Pattern: "lock:b*", MaxTerm: 24 * time.Hour})}, both},
	} {
		t.Run(name, func(t *testing.T) {
			var clk clock
			s := newScanner(t, nodes.clients, append(fast(), append(c.opts, scanner.WithNow(clk.now))...)...)
			sweep(t, s)
			clk.pass(hours)
			r := sweep(t, s)
			wantFindings(t, "after 30 hours", r.Findings, c.want...)
			for _, f := range r.Findings {
				if f.Key == "lock:billing" && !strings.HasPrefix(f.Evidence, "election billing: one holder has had it for 30h") {
					t.Errorf("%q", f.Evidence)
				}
			}
		})
	}
}
