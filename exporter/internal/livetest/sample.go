// Package livetest has sample states for tests of the page at /debug/locks: a process under load, in an incident,
// idle, and with hostile names.
//
// It is for lockscope's own packages: users have no need of it.
package livetest

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/report"
)

// Idle is a process that has no locks.
func Idle() state.State { return state.State{At: time.Now(), Instance: "orders-7d9f/1"} }

// Trace is the trace of some of what Busy does.
const Trace = "4bf92f3577b34da6a3ce929d0e0e4736"

// Busy is a process under load, on a bad day. It lives: ages grow, leases are renewed.
func Busy(start time.Time) state.State {
	now := time.Now()
	up := now.Sub(start).Seconds()
	left := func(offset float64) *float64 {
		v := 9.89 - math.Mod(up+offset, 3.33)
		return &v
	}
	s := state.State{At: now, Instance: "orders-7d9f5c/1", Omitted: state.Omitted{}}
	s.Held = []state.Held{
		{Resource: "report:daily", Holder: s.Instance, Age: 754 + up, Validity: left(1), Fence: 1791043210123456,
			Extends: 226 + int(up/3.33), TraceID: Trace},
		{Resource: "inventory:warehouse-eu-central-1:rebalance", Holder: s.Instance, Age: 61 + up, Validity: left(2),
			Fence: 1791043902331907, Extends: 18, TraceID: "0af7651916cd43dd8448eb211c80319c"},
		{Resource: "order:1001", Holder: s.Instance, Age: 4.1 + up, Validity: left(0), Fence: 1791043959004411,
			Extends: 1, TraceID: "b7ad6b7169203331a1b2c3d4e5f60718"},
		{Resource: "customer:88213:merge", Holder: s.Instance, Age: 6.8, Validity: new(1.9), Fence: 1791043956222019},
		{Resource: "payment:settle", Holder: s.Instance, Age: 9.2, Validity: new(.6), Fence: 1791043954000077},
		{Resource: "legacy:import", Holder: s.Instance, Age: .042, Fence: 1791043963009001},
	}
	s.Waiting = []state.Waiter{
		{Resource: "order:1001", For: 3.9 + up, Kind: "local", Class: "holder", Attempts: 0, Ahead: 2, TraceID: Trace,
			Blocker: &state.Blocker{Holder: s.Instance, Here: true, Age: new(4.1 + up), Remaining: left(0)}},
		{Resource: "order:1001", For: 2.2 + up, Kind: "local", Class: "holder", Attempts: 0, Ahead: 1,
			Blocker: &state.Blocker{Holder: s.Instance, Here: true, Age: new(4.1 + up), Remaining: left(0)}},
		{Resource: "invoice:2024-11", For: 1.4 + up, Kind: "holder", Class: "holder", Attempts: 3, Ahead: 1,
			TraceID: "0af7651916cd43dd8448eb211c80319c",
			Blocker: &state.Blocker{Holder: "billing-84cc/1", Age: new(12.6 + up), Remaining: left(1.4)}},
		{Resource: "legacy:export", For: 1.1 + up, Kind: "holder", Class: "holder", Attempts: 9,
			Blocker: &state.Blocker{NeverExpires: true}},
		{Resource: "cart:5541", For: .38, Kind: "backing_off", Attempts: 2,
			Class: "no_quorum", Error: "lock: cart:5541: no quorum: 2 of 5 nodes granted, 3 needed (redis-1:6379, " +
				"redis-2:6379: granted; redis-3:6379: dial tcp 10.0.3.17:6379: connect: connection refused; " +
				`redis-4:6379, redis-5:6379: not waited for). Check the nodes with "lockscope doctor".`},
		{Resource: "stock:991", For: .021, Kind: "attempt", Class: "network", Attempts: 1},
		{Resource: "stock:17", For: .012, Kind: "holder", Class: "holder", Attempts: 1,
			Blocker: &state.Blocker{HandedOver: true}},
	}
	s.Waits = waits(now)
	for i := range 5 {
		s.Nodes = append(s.Nodes, state.Node{Name: fmt.Sprintf("redis-%d:6379", i+1), Up: true, Calls: 2904 + 31*i,
			P50: .00042 + float64(i)*.00008, P99: .0031 + float64(i)*.0011, Quiet: new(.04)})
	}
	s.Nodes[2] = state.Node{Name: "redis-3:6379", Calls: 1204, Failures: 388, Failing: true, P50: .0006, P99: .0498,
		Quiet: new(17.2 + up), Error: "dial tcp 10.0.3.17:6379: connect: connection refused"}
	s.Nodes[3].Restart = &state.Restart{Noticed: 12 + up, Witnessed: true, Left: 48, Enforced: true}
	s.Nodes[4].Restart = &state.Restart{Noticed: 3 + up, Left: 57}
	s.Slowest = slowest(start)
	return s
}

func waits(now time.Time) (all []state.WaitPoint) {
	now = now.Truncate(time.Second)
	for i := 299; i >= 0; i-- {
		at := now.Add(-time.Duration(i) * time.Second)
		if i > 200 && i < 226 {
			continue
		}
		x := float64(at.Unix() % 3600)
		p := state.WaitPoint{At: at, Count: 30 + int(8*math.Sin(x/9)), P50: .0021 + .0008*math.Sin(x/7)}
		p.P99 = p.P50*4 + .02*math.Abs(math.Sin(x/13))*math.Abs(math.Sin(x/3.7))
		if i > 80 && i < 112 {
			p.P50 += .04
			p.P99 += .9 * math.Abs(math.Sin(float64(i-80)/10))
			p.Failed = i % 4
		}
		all = append(all, p)
	}
	return all
}

func slowest(at time.Time) []state.Acquisition {
	node := func(attempt int, name string, start, took float64, outcome, detail string) state.Step {
		return state.Step{Kind: "node", Name: name, Attempt: attempt, Start: start, Took: took, Outcome: outcome,
			Detail: detail}
	}
	contended := state.Acquisition{Resource: "invoice:2024-11", At: at.Add(-48 * time.Second), Took: 1.912,
		Outcome: "acquired", TraceID: Trace}
	contended.Steps = []state.Step{
		{Kind: "attempt", Name: "attempt 1", Attempt: 1, Start: 0, Took: .051, Outcome: "refused",
			Detail: "3 of 5 refused, 1 failed"},
		node(1, "redis-1:6379", .0002, .0011, "refused", ""), node(1, "redis-2:6379", .0002, .0014, "refused", ""),
		node(1, "redis-3:6379", .0002, .0500, "failed", "no answer within 50ms"),
		node(1, "redis-4:6379", .0003, .0013, "refused", ""), node(1, "redis-5:6379", .0003, .0019, "granted", ""),
		{Kind: "wait", Name: "holder", Attempt: 1, Start: .051, Took: 1.22, Outcome: "woken", Detail: "billing-84cc/1"},
		{Kind: "attempt", Name: "attempt 2", Attempt: 2, Start: 1.272, Took: .06, Outcome: "failed",
			Detail: "2 of 5 agreed, 0 refused, 3 did not answer (redis-2:6379, redis-3:6379, redis-4:6379)"},
		node(2, "redis-1:6379", 1.2722, .0013, "granted", ""),
		node(2, "redis-2:6379", 1.2722, .06, "failed", "no answer within 50ms"),
		node(2, "redis-3:6379", 1.2722, .0008, "failed", "connection refused"),
		node(2, "redis-4:6379", 1.2723, .06, "failed", "no answer within 50ms"),
		node(2, "redis-5:6379", 1.2723, .0016, "granted", ""),
		{Kind: "wait", Name: "backing_off", Attempt: 2, Start: 1.332, Took: .57, Outcome: "timeout"},
		{Kind: "attempt", Name: "attempt 3", Attempt: 3, Start: 1.904, Took: .008, Outcome: "granted"},
		node(3, "redis-1:6379", 1.9041, .0009, "granted", ""), node(3, "redis-2:6379", 1.9041, .0012, "granted", ""),
		node(3, "redis-4:6379", 1.9042, .0076, "granted", ""), node(3, "redis-5:6379", 1.9042, .0018, "granted", ""),
	}
	failed := state.Acquisition{Resource: "cart:7710", At: at.Add(-95 * time.Second), Took: 1.5, Outcome: "timeout",
		Error: `lock: gave up waiting for "cart:7710" after 1.5s and 4 attempts: context deadline exceeded`,
		Steps: contended.Steps[:8], Omitted: 12}
	return []state.Acquisition{
		contended, failed,
		{Resource: "order:998", At: at.Add(-130 * time.Second), Took: .84, Outcome: "acquired",
			Steps: contended.Steps[:1]},
		{Resource: "payment:settle", At: at.Add(-131 * time.Second), Took: .31, Outcome: "no_quorum",
			Error: "lock: no quorum"},
		{Resource: "order:41", At: at.Add(-222 * time.Second), Took: .058, Outcome: "acquired"},
	}
}

// Report is what a scanner found; the time of its sweep is a moment ago.
func Report() (report.Report, bool) {
	now := time.Now()
	finding := func(class inspect.Class, node, key string, ttl time.Duration, holder, evidence string) report.Finding {
		return report.Finding{Class: class, Node: node, Key: key, Type: "string", TTL: ttl, Evidence: evidence,
			FirstSeen: now.Add(-26 * time.Minute),
			Confirmed: true, Hold: inspect.Hold{Holder: lock.Holder{Instance: holder}, Format: inspect.FormatLockscope}}
	}
	r := report.Report{Started: now.Add(-14 * time.Second), Took: 820 * time.Millisecond,
		Resolved: make([]report.Finding, 1)}
	r.Nodes = []report.NodeReport{{Node: "redis-1:6379", Locks: 412}, {Node: "redis-2:6379", Locks: 411},
		{Node: "redis-3:6379", Err: errors.New("connection refused")}}
	r.Findings = []report.Finding{
		finding(inspect.NoTTL, "redis-1:6379", "lock:legacy:export", -1, "",
			"TTL is -1 since 26m; nothing will remove it"),
		finding(inspect.NoTTL, "redis-2:6379", "lock:legacy:export", -1, "",
			"TTL is -1 since 26m; nothing will remove it"),
		finding(inspect.HeldTooLong, "redis-1:6379", "lock:report:daily", 9*time.Second, "orders-7d9f5c/1",
			"held by the same owner for 12m34s, policy is 5m"),
		finding(inspect.LongTTL, "redis-2:6379", "lock:nightly", 26*time.Hour, "cron@batch-2", "TTL 26h, policy is 1h"),
	}
	r.Findings[3].Hold.Format = inspect.FormatShedLock
	r.Pending = []report.Finding{finding(inspect.Orphan, "redis-2:6379", "lock:cart:1\x1b[2J", 4*time.Second,
		"orders-7d9f5c/1", "on 1 of 5 nodes")}
	r.Pending[0].Confirmed = false
	r.Silents, r.Silent = 3, []report.Silent{
		{Key: "lock:report:hourly", FirstSeen: now.Add(-49 * time.Hour), LastSeen: now.Add(-11 * time.Minute), Usual: 60},
		{Group: "eu", Key: "lock:sync", FirstSeen: now.Add(-74 * time.Hour), LastSeen: now.Add(-5 * time.Hour), Usual: 1260},
	}
	return r, true
}
