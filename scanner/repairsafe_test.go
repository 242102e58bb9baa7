package scanner_test

import (
	"errors"
	"fmt"
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

// refused requires that Repair refuses, that the error names the remedy, and that the key stays.
func refused(t *testing.T, s *scanner.Scanner, f report.Finding, want error, says string) {
	t.Helper()
	for _, action := range []repair.Action{repair.Delete(), repair.Delete().DryRun(), repair.Expire(time.Minute)} {
		r, err := s.Repair(within(t), f, action)
		if !errors.Is(err, want) || !strings.Contains(fmt.Sprint(err), says) || r.Outcome != "" {
			t.Errorf("%s: %v: %s, %v; want %v, %q", f.Key, action, r.Outcome, err, want, says)
		}
	}
}

// TestRepairWaitsForTheMinimumAge, counted from when this very value was first seen, whatever the value claims.
func TestRepairWaitsForTheMinimumAge(t *testing.T) {
	f := startNodes(t, 1)
	c := f.clients[0]
	clk := &clock{}
	set(t, c, "lock:leak", redsyncOf("one"), 0)
	set(t, c, "lock:old", lockscopeValue(token, time.Now().Add(-30*24*time.Hour)), 0)
	s := newScanner(t, f.clients, scanner.WithRepairMinAge(scanner.DefaultRepairMinAge), scanner.WithNow(clk.now))
	findings := sweep(t, s).Findings
	leak, old := find(t, findings, inspect.NoTTL, "lock:leak"), find(t, findings, inspect.NoTTL, "lock:old")
	refused(t, s, leak, repair.ErrTooYoung, "lockscope repair plan")
	refused(t, s, old, repair.ErrTooYoung, "wait another 10m0s")
	clk.pass(9 * time.Minute)
	sweep(t, s)
	leak.FirstSeen = leak.FirstSeen.Add(-time.Hour) // the caller's claim counts for nothing
	refused(t, s, leak, repair.ErrTooYoung, "wait another 1m0s")

	set(t, c, "lock:leak", redsyncOf("another"), 0) // another holder, so the age begins anew
	clk.pass(2 * time.Minute)
	leak = find(t, sweep(t, s).Findings, inspect.NoTTL, "lock:leak")
	refused(t, s, leak, repair.ErrTooYoung, "")
	repaired(t, s, old, repair.Delete(), inspect.Done)
	clk.pass(11 * time.Minute)
	repaired(t, s, leak, repair.Delete(), inspect.Done)
}

// TestRepairKnowsValuesOfSeveralKeys: a value on several keys identifies its holder, not one lease. That holds in any
// order of keys, and on any node.
func TestRepairKnowsValuesOfSeveralKeys(t *testing.T) {
	f := startNodes(t, 2)
	const own = redsyncValue
	set(t, f.clients[0], "lock:leak", own, 0)
	for _, node := range []int{0, 1} {
		for _, other := range []string{"lock:a", "lock:z"} {
			set(t, f.clients[node], other, own, time.Minute)
			s := newScanner(t, f.clients)
			leak := find(t, sweep(t, s).Findings, inspect.NoTTL, "lock:leak")
			refused(t, s, leak, repair.ErrNotRepairable, "another key")
			must(t, f.clients[node].Del(within(t), other).Err())
			sweep(t, s) // it identified a lease before; now it does not
			refused(t, s, leak, repair.ErrNotRepairable, "another key")
		}
	}
	set(t, f.clients[1], "lock:leak", own, time.Minute) // the same lock on another node
	s := newScanner(t, f.clients)
	repaired(t, s, find(t, sweep(t, s).Findings, inspect.NoTTL, "lock:leak"), repair.Delete(), inspect.Done)
}

// TestRepairWantsAllThatBearsOnIt: data that a sweep left out may show that the holder is alive.
func TestRepairWantsAllThatBearsOnIt(t *testing.T) {
	f := startNodes(t, 2)
	c := f.clients[0]
	for i := range 30 {
		set(t, c, fmt.Sprint("lock:fine:", i), redissonID+fmt.Sprint(i), time.Minute)
	}
	set(t, c, "lock:leak", redsyncValue, 0)
	set(t, f.clients[1], "lock:elsewhere", redsyncOf("elsewhere"), 0)
	for name, test := range map[string]struct {
		opt  scanner.Option
		says inspect.Reason
	}{
		"values unread": {scanner.WithMaxValues(10), inspect.ReasonValuesUnread},
		"overflow":      {scanner.WithTTLLimit(time.Second), inspect.ReasonBoundReached},
	} {
		s := newScanner(t, f.clients, test.opt, scanner.WithMaxFindings(10))
		findings := sweep(t, s).Findings
		refused(t, s, find(t, findings, inspect.NoTTL, "lock:leak"), repair.ErrIncomplete, string(test.says))
		if name == "values unread" { // the other node's values were read
			repaired(t, s, find(t, findings, inspect.NoTTL, "lock:elsewhere"), repair.Delete().DryRun(),
				inspect.WouldDo)
		}
	}
	// A lock that is not watched may be held too long, but whether it has a TTL is known.
	s := newScanner(t, f.clients, scanner.WithMaxWatched(1))
	r := sweep(t, s)
	wantGaps(t, "unwatched", r, inspect.ReasonUnwatched)
	repaired(t, s, find(t, r.Findings, inspect.NoTTL, "lock:leak"), repair.Delete(), inspect.Done)
}

// TestRepairLeavesSlotsOnTheMove, and repairs keys in other slots.
func TestRepairLeavesSlotsOnTheMove(t *testing.T) {
	t.Parallel()
	cl := locktest.Cluster(t, 3)
	c := clusterClient(t, cl)
	ctx := within(t)
	set(t, c, "lock:{moving}", redsyncOf("moving"), 0)
	slot, from := halfMove(t, cl, c, "lock:{moving}")
	still := ""
	for i := 0; still == ""; i++ { // another slot of the same master
		key := fmt.Sprintf("lock:{still%d}", i)
		if m, err := c.MasterForKey(ctx, key); err == nil && m.Options().Addr == from.Options().Addr {
			still = key
		}
	}
	set(t, c, still, redsyncOf("still"), 0)
	alone := newScanner(t, []redis.UniversalClient{from})
	refused(t, alone, find(t, sweep(t, alone).Findings, inspect.NoTTL, still), repair.ErrIncomplete,
		string(inspect.ReasonSlotsUncovered))
	s := newScanner(t, []redis.UniversalClient{c})
	findings := sweep(t, s).Findings
	refused(t, s, find(t, findings, inspect.NoTTL, "lock:{moving}"), repair.ErrIncomplete, fmt.Sprint("slot ", slot))
	repaired(t, s, find(t, findings, inspect.NoTTL, still), repair.Delete(), inspect.Done)
}
