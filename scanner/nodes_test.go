package scanner_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/listing"
	"github.com/lockscope/lockscope/scanner/report"
)

func TestUnreachableNode(t *testing.T) {
	f := startNodes(t, 3)
	ctx := within(t)
	for _, c := range f.clients {
		must(t, c.Set(ctx, "lock:a", "1", 0).Err())
	}
	must(t, f.servers[1].Kill())
	s := newScanner(t, f.clients, scanner.WithNodeNames("a", "b", "c"))
	report, err := s.Sweep(ctx)
	asNode(t, err, "b")
	if len(report.Findings) != 2 || len(report.Nodes) != 3 {
		t.Fatalf("findings %v", report.Findings)
	}
	for _, n := range report.Nodes {
		if (n.Err != nil) != (n.Node == "b") || n.Truncated != (n.Node == "b") {
			t.Errorf("%+v", n)
		}
	}
	snap := s.Snapshot()
	for _, n := range snap.Nodes {
		if n.Up != (n.Node != "b") || n.LastSuccess.IsZero() != (n.Node == "b") ||
			(n.PassFailures == 1) != (n.Node == "b") || n.Passes != 1 {
			t.Errorf("%+v", n)
		}
	}
	must(t, f.servers[1].Restart(ctx))
	must(t, f.clients[1].Set(ctx, "lock:b", "1", 0).Err())
	eventually(t, "the node is back", func() bool { // once a second, go-redis dials a server that refused
		report, err = s.Sweep(ctx)
		return err == nil
	})
	if len(report.Findings) != 3 {
		t.Errorf("findings %v", brief(report.Findings))
	}
}

// TestFindingsOutliveAnOutage: a node that does not answer does not count as clean.
func TestFindingsOutliveAnOutage(t *testing.T) {
	f := startNodes(t, 1, redisproc.WithArgs("--appendonly", "yes", "--appendfsync", "always"))
	ctx := within(t)
	must(t, f.clients[0].Set(ctx, "lock:a", "1", 0).Err())
	s := newScanner(t, f.clients)
	first := sweep(t, s).Findings
	must(t, f.servers[0].Kill())
	report, err := s.Sweep(ctx)
	if err == nil || len(report.Resolved) != 0 {
		t.Errorf("error %v, resolved %v", err, report.Resolved)
	}
	wantFindings(t, "outage", report.Findings, "no_ttl lock:a")
	must(t, f.servers[0].Restart(ctx))
	eventually(t, "the node is back", func() bool {
		report, err = s.Sweep(ctx)
		return err == nil
	})
	wantFindings(t, "back", report.Findings, "no_ttl lock:a")
	if !report.Findings[0].FirstSeen.Equal(first[0].FirstSeen) {
		t.Error("it is a new finding")
	}
}

func TestCredentialsAreNotShown(t *testing.T) {
	const password = "correct-horse-battery"
	f := startNodes(t, 1, redisproc.WithArgs("--requirepass", "another"))
	addr := f.servers[0].Addr()
	s, err := scanner.Open([]string{"redis://scan:" + password + "@" + addr}, fast()...)
	must(t, err)
	defer s.Close()
	_, err = s.Sweep(within(t))
	asNode(t, err, addr)
	if !strings.Contains(err.Error(), "WRONGPASS") || strings.Contains(err.Error(), password) {
		t.Errorf("error %q", err)
	}
	for _, url := range []string{"redis://scan:" + password + "@host:port", "http://scan:" + password + "@host",
		"redis://:" + password + "%zz@h:1"} {
		_, err := scanner.Open([]string{url})
		if !errors.Is(err, scanner.ErrInvalidNode) || strings.Contains(err.Error(), password) {
			t.Errorf("error %q", err)
		}
	}
}

func TestOrphans(t *testing.T) {
	f := startNodes(t, 3)
	ctx, now := within(t), time.Now()
	put := func(node int, key, value string) { must(t, f.clients[node].Set(ctx, key, value, time.Minute).Err()) }
	other := strings.Repeat("f", 32)
	for i, tok := range []string{token, other, strings.Repeat("0", 32)} {
		put(i, "lock:everywhere", lockscopeValue(token, now))
		put(i, "lock:split", lockscopeValue(tok, now))
		put(i, "lock:redsync", redsyncValue)
	}
	put(0, "lock:quorum", lockscopeValue(token, now))
	put(2, "lock:quorum", strings.Replace(lockscopeValue(token, now), ":17|", ":16|", 1)) // not raised yet
	put(1, "lock:quorum", lockscopeValue(other, now))
	put(2, "lock:one", lockscopeValue(token, now))
	must(t, f.clients[1].RPush(ctx, "lock:one", "x").Err())
	put(0, "lock:redsync-one", redsyncValue)
	lease, err := engineOf(t, f, "real").Acquire(ctx, "real", lock.TTL(time.Minute))
	must(t, err)
	defer lease.Release(ctx)

	want := []string{"orphan lock:split", "orphan lock:split", "orphan lock:split", "orphan lock:quorum",
		"orphan lock:one", "orphan lock:redsync-one", "foreign_type lock:one"}
	for _, path := range paths() {
		for _, size := range []int{1, 500} {
			s := newScanner(t, f.clients, scanner.UsePath(path), scanner.WithPageSize(size), scanner.WithOneRedlock())
			r := sweep(t, s)
			wantFindings(t, string(path), r.Findings, want...)
			one := find(t, r.Findings, inspect.Orphan, "lock:one")
			if !strings.Contains(one.Evidence, "1 of 3") || one.Node != f.servers[2].Addr() ||
				one.Hold.Instance != "web-3/4711" {
				t.Errorf("%+v", one)
			}
			s.Close()
		}
	}

	// With node 1 down, a lock on one of the others might have a quorum.
	s := newScanner(t, f.clients, scanner.WithOneRedlock())
	sweep(t, s)
	must(t, f.servers[1].Kill())
	report, err := s.Sweep(ctx)
	asNode(t, err, f.servers[1].Addr())
	fresh := newScanner(t, f.clients, scanner.WithOneRedlock())
	undecided, err := fresh.Sweep(ctx)
	asNode(t, err, f.servers[1].Addr())
	wantFindings(t, "undecidable", undecided.Findings)
	if len(report.Resolved) != 0 {
		t.Errorf("resolved %v while it cannot be told", brief(report.Resolved))
	}
}

// TestOrphanInTheMaking: an acquire under way is on one node first, and on the others before the second look.
func TestOrphanInTheMaking(t *testing.T) {
	f := startNodes(t, 3)
	ctx := within(t)
	put := func(i int) {
		must(t, f.clients[i].Set(ctx, "lock:a", lockscopeValue(token, time.Now()), time.Minute).Err())
	}
	put(0)
	s := newScanner(t, f.clients, scanner.WithOneRedlock(), scanner.WithConfirmAfter(time.Second),
		scanner.WithProgress(func(p report.Progress) {
			if p.Done && p.Node == f.servers[0].Addr() {
				put(1)
			}
		}))
	wantFindings(t, "granted meanwhile", sweep(t, s).Findings)
}

func TestCluster(t *testing.T) {
	t.Parallel()
	cl := locktest.Cluster(t, 3)
	c := clusterClient(t, cl)
	ctx := within(t)
	var want []string
	for i := range 60 {
		ttl := time.Minute
		if i%2 == 0 {
			ttl = 0
			want = append(want, fmt.Sprint("no_ttl lock:", i))
		}
		must(t, c.Set(ctx, fmt.Sprint("lock:", i), "1", ttl).Err())
	}
	must(t, c.HSet(ctx, "lock:h", redissonID+":1", 1).Err())
	must(t, c.RPush(ctx, "lock:l", 1).Err())
	want = append(want, "no_ttl lock:h", "foreign_type lock:l")
	var s *scanner.Scanner
	for _, path := range paths() {
		s = newScanner(t, []redis.UniversalClient{c}, scanner.UsePath(path), scanner.WithPageSize(5))
		r := sweep(t, s)
		wantFindings(t, string(path), r.Findings, want...)
		if len(r.Nodes) != 3 {
			t.Errorf("%d nodes", len(r.Nodes))
		}
		for _, server := range cl.Servers() {
			if n := reportOf(t, r, server.Addr()); n.Path != path || n.Locks == 0 || n.Counts[inspect.NoTTL] == 0 {
				t.Errorf("%+v", n)
			}
		}
	}
	gone := cl.Servers()[1]
	must(t, gone.Kill())
	report, err := s.Sweep(ctx)
	if err == nil {
		t.Error("a master is gone and nothing is said")
	}
	for _, n := range report.Nodes {
		if (n.Err != nil) != (n.Node == gone.Addr()) {
			t.Errorf("%s: %v", n.Node, n.Err)
		}
	}
	if len(report.Resolved) != 0 {
		t.Errorf("resolved %v", brief(report.Resolved))
	}
}

// TestClusterAsANode compares the locks of a cluster with those of standalone nodes.
func TestClusterAsANode(t *testing.T) {
	cl := locktest.Cluster(t, 3)
	c := clusterClient(t, cl)
	f := startNodes(t, 2)
	ctx := within(t)
	for i := range 9 {
		v := lockscopeValue(token, time.Now())
		must(t, c.Set(ctx, fmt.Sprint("lock:both:", i), v, time.Minute).Err())
		must(t, f.clients[i%2].Set(ctx, fmt.Sprint("lock:both:", i), v, time.Minute).Err())
		if i < 3 {
			must(t, c.Set(ctx, fmt.Sprint("lock:cluster:", i), v, time.Minute).Err())
		}
	}
	s := newScanner(t, append(f.clients, c), scanner.WithOneRedlock())
	wantFindings(t, "cluster", sweep(t, s).Findings, "orphan lock:cluster:0", "orphan lock:cluster:1",
		"orphan lock:cluster:2")
}

func TestReplica(t *testing.T) {
	f := startNodes(t, 2, redisproc.WithArgs("--repl-diskless-sync-delay", "0"))
	ctx := within(t)
	master, replica := f.clients[0], f.clients[1]
	host, port, _ := strings.Cut(f.servers[0].Addr(), ":")
	must(t, replica.SlaveOf(ctx, host, port).Err())
	must(t, master.Set(ctx, "lock:a", "1", 0).Err())
	must(t, master.Set(ctx, "lock:b", "1", time.Minute).Err())
	eventually(t, "replicated", func() bool { return replica.DBSize(ctx).Val() == 2 })
	for _, path := range paths() {
		must(t, master.ConfigResetStat(ctx).Err())
		s := newScanner(t, f.clients[:1], scanner.WithReplicas(replica), scanner.UsePath(path))
		report := sweep(t, s)
		wantFindings(t, string(path), report.Findings, "no_ttl lock:a")
		if text := master.Info(ctx, "commandstats").Val(); strings.Contains(text, "cmdstat_scan:") {
			t.Error("the master was scanned")
		}
		if report.Findings[0].Node != f.servers[0].Addr() {
			t.Errorf("found on %s", report.Findings[0].Node)
		}
	}
	// A key that the replica still has and the master no longer has.
	must(t, replica.SlaveOf(ctx, "NO", "ONE").Err())
	must(t, master.Expire(ctx, "lock:a", time.Minute).Err())
	s := newScanner(t, f.clients[:1], scanner.WithReplicas(replica))
	wantFindings(t, "stale replica", sweep(t, s).Findings)
}

func TestShortcut(t *testing.T) {
	f := startNodes(t, 1)
	c, ctx := f.clients[0], within(t)
	s := newScanner(t, f.clients, scanner.WithChecks(inspect.NoTTL))
	path := func() report.Path {
		t.Helper()
		return sweep(t, s).Nodes[0].Path
	}
	if path() != report.PathShortcut {
		t.Error("an empty server was scanned")
	}
	must(t, c.Set(ctx, "lock:a", "1", time.Minute).Err())
	if path() != report.PathShortcut {
		t.Error("every key expires and the server was scanned")
	}
	must(t, c.Set(ctx, "lock:b", "1", 0).Err())
	r := sweep(t, s)
	wantFindings(t, "scanned", r.Findings, "no_ttl lock:b")
	if r.Nodes[0].Path != report.PathScript || s.Snapshot().Nodes[0].Locks != 2 {
		t.Errorf("%+v", r.Nodes[0])
	}
	must(t, c.Expire(ctx, "lock:b", time.Minute).Err())
	r = sweep(t, s)
	wantFindings(t, "healed", r.Resolved, "no_ttl lock:b")
	if r.Nodes[0].Path != report.PathShortcut || s.Snapshot().Nodes[0].Locks != 2 {
		t.Errorf("%+v", r.Nodes[0])
	}
	all := newScanner(t, f.clients)
	if n := sweep(t, all).Nodes[0]; n.Path != report.PathScript {
		t.Errorf("path %s, but other checks need the pages", n.Path)
	}
}

// TestRights: the rights of ListACL suffice, and with fewer of them to run scripts the pages are read without.
func TestRights(t *testing.T) {
	f := startNodes(t, 1)
	c, ctx := f.clients[0].(*redis.Client), within(t)
	plant(t, c, time.Now())
	scriptless := slices.DeleteFunc(scanner.ListACL(), func(rule string) bool { return strings.Contains(rule, "eval") })
	for _, tc := range []struct {
		rules []string
		path  report.Path
	}{
		{scanner.ListACL(), report.PathScript},
		{slices.Concat(scriptless, []string{"+eval", "+evalsha"}), report.PathScript},
		{scriptless, report.PathPipeline},
	} {
		must(t, c.ScriptFlush(ctx).Err())
		s := newScanner(t, []redis.UniversalClient{aclClient(t, f.servers[0].Addr(), c, tc.rules)})
		for range 2 {
			must(t, c.Do(ctx, "ACL", "LOG", "RESET").Err())
			report := sweep(t, s)
			wantFindings(t, string(tc.path), report.Findings, planted()...)
			if report.Nodes[0].Path != tc.path {
				t.Errorf("%q: path %s, want %s", tc.rules, report.Nodes[0].Path, tc.path)
			}
		}
		if log, err := c.ACLLog(ctx, 10).Result(); err != nil || len(log) != 0 {
			t.Errorf("%q: the second sweep was denied something: %v, %v", tc.rules, log, err)
		}
		if l := list(t, s, listing.Options{}); len(l.Locks) != 36 {
			t.Errorf("%q: %d locks, want 36", tc.rules, len(l.Locks))
		}
	}
}

// TestClientsStayAsTheyAre: the Scanner's own connections are few, named, and gone after Close.
func TestClientsStayAsTheyAre(t *testing.T) {
	f := startNodes(t, 1)
	ctx := within(t)
	used := redis.NewClient(&redis.Options{Addr: f.servers[0].Addr(), PoolSize: 1})
	defer used.Close()
	s := newScanner(t, []redis.UniversalClient{used})
	sweep(t, s)
	if n := used.PoolStats().TotalConns; n != 0 {
		t.Errorf("%d connections of the given client were opened", n)
	}
	named := func() int {
		return strings.Count(f.clients[0].ClientList(ctx).Val(), "name=lockscope-scanner ")
	}
	if n := named(); n < 1 || n > 2 {
		t.Errorf("%d connections", n)
	}
	must(t, s.Close())
	must(t, s.Close())
	eventually(t, "connections closed", func() bool { return named() == 0 })
	if _, err := s.Sweep(ctx); !errors.Is(err, scanner.ErrClosed) {
		t.Errorf("Sweep after Close: %v", err)
	}
	if err := s.Start(); !errors.Is(err, scanner.ErrClosed) {
		t.Errorf("Start after Close: %v", err)
	}
	must(t, used.Ping(ctx).Err())
}

func TestOneSweepAtATime(t *testing.T) {
	f := startNodes(t, 1)
	ctx := within(t)
	must(t, f.clients[0].Set(ctx, "lock:a", "1", 0).Err())
	entered, leave := make(chan struct{}), make(chan struct{})
	var once sync.Once
	s := newScanner(t, f.clients, scanner.WithProgress(func(report.Progress) {
		once.Do(func() { close(entered); <-leave })
	}))
	first := make(chan error)
	go func() {
		_, err := s.Sweep(ctx)
		first <- err
	}()
	<-entered
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	if _, err := s.Sweep(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("second sweep: %v", err)
	}
	second := make(chan error)
	go func() {
		_, err := s.Sweep(ctx)
		second <- err
	}()
	close(leave)
	must(t, <-first)
	must(t, <-second)
}
