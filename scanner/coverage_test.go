package scanner_test

import (
	"bytes"
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
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/report"
)

// wantGaps compares the reasons of a report's gaps.
func wantGaps(t testing.TB, what string, r report.Report, want ...inspect.Reason) {
	t.Helper()
	var got []inspect.Reason
	for _, g := range r.Incomplete() {
		got = append(got, g.Reason)
		if g.Detail == "" || !slices.Contains(inspect.Reasons(), g.Reason) {
			t.Errorf("%s: %+v", what, g)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s: incomplete %+v, want %v", what, r.Incomplete(), want)
	}
}

func clientOf(t testing.TB, s *redisproc.Server) *redis.Client {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: s.Addr()})
	t.Cleanup(func() { must(t, c.Close()) })
	return c
}

func clusterClient(t testing.TB, cl *redisproc.Cluster) *redis.ClusterClient {
	t.Helper()
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: cl.Addrs()})
	t.Cleanup(func() { must(t, c.Close()) })
	return c
}

// halfMove leaves the slot of a key half-way between two masters, with these keys on the new one. It returns the slot and
// its old master.
func halfMove(t testing.TB, cl *redisproc.Cluster, c *redis.ClusterClient, key string, moved ...string) (int64, *redis.Client) {
	t.Helper()
	ctx := within(t)
	from, err := c.MasterForKey(ctx, key)
	must(t, err)
	i := slices.IndexFunc(cl.Servers(), func(s *redisproc.Server) bool { return s.Addr() != from.Options().Addr })
	to, slot := clientOf(t, cl.Servers()[i]), c.ClusterKeySlot(ctx, key).Val()
	must(t, to.Do(ctx, "CLUSTER", "SETSLOT", slot, "IMPORTING", from.Do(ctx, "CLUSTER", "MYID").Val()).Err())
	must(t, from.Do(ctx, "CLUSTER", "SETSLOT", slot, "MIGRATING", to.Do(ctx, "CLUSTER", "MYID").Val()).Err())
	host, port, _ := strings.Cut(to.Options().Addr, ":")
	for _, key := range moved {
		must(t, from.Migrate(ctx, host, port, key, 0, 5*time.Second).Err())
	}
	return slot, from
}

// TestNodesOfAClusterByThemselves are read as far as they can be, and the report is incomplete.
func TestNodesOfAClusterByThemselves(t *testing.T) {
	t.Parallel()
	cl := locktest.Cluster(t, 3, redisproc.WithReplicas(1))
	c := clusterClient(t, cl)
	for i := range 30 {
		set(t, c, fmt.Sprint("lock:", i), "1", 0)
	}
	whole := sweep(t, newScanner(t, []redis.UniversalClient{c}))
	wantGaps(t, "the cluster", whole)
	var slots int
	for _, n := range whole.Nodes {
		for _, r := range n.Slots {
			slots += r.Last - r.First + 1
		}
	}
	if slots != 16384 || len(whole.Findings) != 30 {
		t.Errorf("%d slots, %d findings", slots, len(whole.Findings))
	}

	master := sweep(t, newScanner(t, []redis.UniversalClient{clientOf(t, cl.Servers()[0])}))
	wantGaps(t, "a master", master, inspect.ReasonSlotsUncovered)
	if n := master.Nodes[0]; len(n.Slots) != 1 || n.Slots[0] != (report.SlotRange{First: 0, Last: 5460}) ||
		n.Counts[inspect.NoTTL] == 0 {
		t.Errorf("%+v", n)
	}
	for _, path := range paths() {
		s := newScanner(t, []redis.UniversalClient{clientOf(t, cl.Replicas(0)[0])}, scanner.UsePath(path))
		r, err := s.Sweep(within(t))
		if !errors.Is(err, report.ErrNotMaster) {
			t.Errorf("a replica by %s: %v", path, err)
		}
		wantGaps(t, "a replica", r, inspect.ReasonNodeFailed)
	}
}

// TestSlotsNobodyServes are reported as missing, whether or not the cluster goes on without them.
func TestSlotsNobodyServes(t *testing.T) {
	t.Parallel()
	cl := locktest.Cluster(t, 3)
	c := clusterClient(t, cl)
	ctx := within(t)
	keys := map[string]int{}
	for i := range 60 {
		key := fmt.Sprint("lock:", i)
		set(t, c, key, "1", 0)
		keys[key] = int(c.ClusterKeySlot(ctx, key).Val())
	}
	lost := keys["lock:0"]
	var admins []*redis.Client
	for _, s := range cl.Servers() {
		admin := clientOf(t, s)
		must(t, admin.ConfigSet(ctx, "cluster-require-full-coverage", "no").Err())
		admins = append(admins, admin)
	}
	serves := func(admin *redis.Client) bool {
		return slices.ContainsFunc(admin.ClusterSlots(ctx).Val(),
			func(r redis.ClusterSlot) bool { return r.Start <= lost && lost <= r.End })
	}
	// Repeatedly: the gossip of a node that does not know yet may make others believe that it still serves the slot.
	eventually(t, "nobody serves the slot", func() bool {
		for _, admin := range admins {
			if serves(admin) {
				must(t, admin.ClusterDelSlots(ctx, lost).Err())
			}
		}
		return !slices.ContainsFunc(admins, serves)
	})
	s := newScanner(t, []redis.UniversalClient{c})
	r := sweep(t, s)
	// Its key is still in the table of its former node, which does not answer for it.
	wantGaps(t, "one slot", r, inspect.ReasonSlotsUncovered, inspect.ReasonRedirected)
	if len(r.Findings) != 59 || !strings.Contains(fmt.Sprint(r.Incomplete()),
		fmt.Sprint("slots ", lost, " ")) {
		t.Errorf("%d findings, %+v", len(r.Findings), r.Incomplete())
	}
}

// TestHalfMovedSlot: keys on both sides are found, and the report is incomplete.
func TestHalfMovedSlot(t *testing.T) {
	t.Parallel()
	cl := locktest.Cluster(t, 3)
	c := clusterClient(t, cl)
	var keys, want []string
	for i := range 12 {
		keys = append(keys, fmt.Sprintf("lock:{moving}:%d", i))
		set(t, c, keys[i], token+fmt.Sprint(i), 0)
		want = append(want, "no_ttl "+keys[i])
	}
	halfMove(t, cl, c, keys[0], keys[:5]...)
	for _, size := range []int{3, 500} {
		r := sweep(t, newScanner(t, []redis.UniversalClient{c}, scanner.WithPageSize(size)))
		wantFindings(t, "half moved", r.Findings, want...)
		wantGaps(t, "half moved", r, inspect.ReasonSlotsMoving)
	}
}

// TestReplicaIsChecked: pages are read from a replica only if it belongs to the node, and count as the node's only
// while it is in sync.
func TestReplicaIsChecked(t *testing.T) {
	f := startNodes(t, 3, redisproc.WithArgs("--repl-diskless-sync-delay", "0"))
	ctx := within(t)
	master, replica, stranger := f.clients[0], f.clients[1], f.clients[2]
	set(t, master, "lock:a", "1", 0)
	from := func(r redis.UniversalClient) *scanner.Scanner {
		return newScanner(t, f.clients[:1], scanner.WithReplicas(r))
	}
	for what, r := range map[string]redis.UniversalClient{"a stranger": stranger, "never in sync": replica} {
		if what == "never in sync" {
			must(t, replica.SlaveOf(ctx, "127.0.0.1", "1").Err())
		}
		swept, err := from(r).Sweep(ctx)
		if !errors.Is(err, report.ErrNotReplica) {
			t.Errorf("%s: %v", what, err)
		}
		wantGaps(t, what, swept, inspect.ReasonNodeFailed)
	}
	host, port, _ := strings.Cut(f.servers[0].Addr(), ":")
	must(t, replica.SlaveOf(ctx, host, port).Err())
	eventually(t, "in sync", func() bool {
		return strings.Contains(replica.Info(ctx, "replication").Val(),
			"master_link_status:up")
	})
	s := from(replica)
	r := sweep(t, s)
	wantFindings(t, "in sync", r.Findings, "no_ttl lock:a")
	wantGaps(t, "in sync", r)

	must(t, f.servers[0].Pause())
	must(t, replica.SlaveOf(ctx, "127.0.0.1", "1").Err()) // its link is down and its data is old
	must(t, f.servers[0].Resume())
	set(t, master, "lock:b", "1", 0)
	wantGaps(t, "link down", sweep(t, s), inspect.ReasonReplica)

	named := newScanner(t, []redis.UniversalClient{replica})
	wantGaps(t, "a replica named as the node", sweep(t, named), inspect.ReasonReplica)
}

// TestNothingMatches: each pattern without a key is reported, for an empty server as for a wrong name.
func TestNothingMatches(t *testing.T) {
	f := startNodes(t, 2)
	wantGaps(t, "empty", sweep(t, newScanner(t, f.clients)), inspect.ReasonNoMatch)
	wantGaps(t, "empty, by INFO alone", sweep(t, newScanner(t, f.clients, scanner.WithChecks(inspect.NoTTL))),
		inspect.ReasonNoMatch)
	wantGaps(t, "allowed", sweep(t, newScanner(t, f.clients, scanner.WithEmptyAllowed())))
	set(t, f.clients[1], "shedlock:a", "1", 0)
	wantGaps(t, "another name", sweep(t, newScanner(t, f.clients)), inspect.ReasonNoMatch)

	set(t, f.clients[0], "lock:a", "1", 0)
	set(t, f.clients[0], "lock:b", "1", 0)
	patterns := scanner.WithPatterns(scanner.PrefixPattern("lock:"), "*a", "none:*")
	for _, path := range paths() {
		r := sweep(t, newScanner(t, f.clients, patterns, scanner.UsePath(path), scanner.WithPageSize(1)))
		wantFindings(t, "several patterns", r.Findings, "no_ttl lock:a", "no_ttl lock:b", "no_ttl shedlock:a")
		wantGaps(t, "several patterns", r, inspect.ReasonNoMatch)
		if n := r.Nodes[0]; n.Locks != 2 || n.Matched["lock:*"] != 2 || n.Matched["*a"] != 0 || n.Path != path {
			t.Errorf("%+v", n)
		}
		if n := r.Nodes[1]; n.Locks != 1 || n.Matched["*a"] != 1 {
			t.Errorf("%+v", n)
		}
	}
	one := sweep(t, newScanner(t, f.clients, scanner.WithChecks(inspect.LongTTL)))
	wantGaps(t, "matches", one)
}

// TestAnotherProcess: a pass is not complete if two processes of a server answered it.
func TestAnotherProcess(t *testing.T) {
	f := startNodes(t, 1, redisproc.WithArgs("--appendonly", "yes", "--appendfsync", "always"))
	for i := range 40 {
		set(t, f.clients[0], fmt.Sprint("lock:", i), "1", 0)
	}
	restarted := false
	s := newScanner(t, f.clients, scanner.WithPageSize(5), scanner.WithProgress(func(report.Progress) {
		if !restarted {
			restarted = true
			must(t, f.servers[0].Kill())
			must(t, f.servers[0].Restart(within(t)))
		}
	}))
	r, err := s.Sweep(within(t))
	if gaps := r.Incomplete(); len(gaps) != 1 || gaps[0].Reason != inspect.ReasonNodeFailed {
		t.Errorf("%+v, %v", gaps, err)
	}
}

// TestBoundKeepsTheWorst in any order of findings, and counts all.
func TestBoundKeepsTheWorst(t *testing.T) {
	f := startNodes(t, 1)
	ctx := within(t)
	must(t, f.clients[0].Eval(ctx, "for i = 1, 2500 do redis.call('SET', 'lock:' .. i, '1', 'EX', 90000) end return 1",
		nil).Err())
	for i := range 3 {
		set(t, f.clients[0], fmt.Sprint("lock:leak", i), "1", 0)
	}
	for _, path := range paths() {
		s := newScanner(t, f.clients, scanner.UsePath(path), scanner.WithMaxFindings(50))
		for range 2 { // with an empty registry and a full one
			r := sweep(t, s)
			var leaks int
			for _, found := range r.Findings {
				if found.Class == inspect.NoTTL {
					leaks++
				}
			}
			n := r.Nodes[0]
			if leaks != 3 || len(r.Findings) != 50 || r.Overflow != 2453 || n.Overflow != 2453 ||
				n.Counts[inspect.NoTTL] != 3 || n.Counts[inspect.LongTTL] != 2500 || !s.Snapshot().Nodes[0].Truncated {
				t.Errorf("%s: %d leaks of %d findings, overflow %d, %+v", path, leaks, len(r.Findings),
					r.Overflow, n)
			}
			wantGaps(t, "bound", r, inspect.ReasonBoundReached)
		}
	}
	one := newScanner(t, f.clients, scanner.WithMaxFindings(1))
	sweep(t, one)
	if n := one.Snapshot().Nodes[0]; n.Leaked != 3 || n.Overlong != 2500 || !n.Truncated {
		t.Errorf("%+v", n)
	}
}

// TestOtherDatabasesAreNamed: locks in another database of the server are not read, and that is no gap.
func TestOtherDatabasesAreNamed(t *testing.T) {
	f := startNodes(t, 1)
	set(t, f.clients[0], "lock:a", lockscopeValue(tokenOf("a"), time.Now()), time.Minute)
	var log bytes.Buffer
	s := newScanner(t, f.clients, scanner.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	if r := sweep(t, s); len(r.Skipped) != 0 {
		t.Errorf("skipped %+v", r.Skipped)
	}
	third := redis.NewClient(&redis.Options{Addr: f.servers[0].Addr(), DB: 3})
	defer third.Close()
	set(t, third, "lock:b", redsyncValue, 0)
	set(t, third, "lock:c", redsyncOf("c"), 0)
	own := sweep(t, newScanner(t, []redis.UniversalClient{third}, scanner.WithChecks(inspect.NoTTL)))
	wantFindings(t, "database 3", own.Findings, "no_ttl lock:b", "no_ttl lock:c")
	if own.Nodes[0].Node != f.servers[0].Addr()+"/3" {
		t.Errorf("node %q", own.Nodes[0].Node)
	}
	for range 2 {
		r := sweep(t, s)
		want := fmt.Sprintf("db3 of %s has 2 keys, not read: scan it, too (--redis redis://%[1]s/3)", f.servers[0].Addr())
		if len(r.Skipped) != 1 || r.Skipped[0].Detail != want || r.Skipped[0].Reason != inspect.ReasonDatabases ||
			r.Skipped[0].Node != f.servers[0].Addr() || len(r.Incomplete()) != 0 {
			t.Errorf("skipped %+v, gaps %+v", r.Skipped, r.Incomplete())
		}
	}
	if n := strings.Count(log.String(), "db3 of "); n != 1 {
		t.Errorf("logged %d times: %s", n, log.String())
	}
}
