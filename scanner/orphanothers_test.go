package scanner_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/scanner"
)

// others are values of libraries for Redlock: new for each lease, and the same on all nodes.
func others() map[string]string {
	return map[string]string{
		"redsync":                 redsyncValue,
		"node-redlock":            "9f86d081884c3d659a2feaa0c55ad015",
		"redlock-rb":              shedLockUUID,
		"redlock4j":               strings.Repeat("9f86d081", 5),
		"redlock for Elixir":      strings.Repeat("9f86d081", 10),
		"DistributedLock.Redis":   "web-3_4711_9f86d081884c4d659a2feaa0c55ad015",
		"lockscope, as a control": lockscopeValue(token, time.Now()),
	}
}

// TestOrphansOfOtherLibraries: nodes that are said to be those of one Redlock have their locks compared, whatever
// library wrote them.
func TestOrphansOfOtherLibraries(t *testing.T) {
	f := startNodes(t, 3)
	var want []string
	for library, value := range others() {
		set(t, f.clients[0], "lock:held:"+library, value, time.Minute)
		set(t, f.clients[2], "lock:held:"+library, value, time.Minute)
		set(t, f.clients[1], "lock:left:"+library, value, time.Minute)
		set(t, f.clients[0], "lock:split:"+library, value, time.Minute)
		set(t, f.clients[1], "lock:split:"+library, "1", time.Minute) // somebody else's
		want = append(want, "orphan "+inspect.KeyText("lock:left:"+library), "orphan "+inspect.KeyText("lock:split:"+library))
	}
	set(t, f.clients[2], "lock:prefix", redsyncValue, time.Minute)
	set(t, f.clients[0], "lock:prefix", redsyncValue+"x", time.Minute) // a longer value is another one
	want = append(want, "orphan lock:prefix")
	report := sweep(t, newScanner(t, f.clients, scanner.WithOneRedlock(), scanner.WithChecks(inspect.Orphan)))
	wantFindings(t, "declared", report.Findings, want...)
	for _, finding := range report.Findings {
		about := "nobody holds the lock unless its program locks on this node alone"
		if strings.HasSuffix(finding.Key, "control") {
			about = "nobody holds the lock, and it blocks others"
		}
		if !strings.Contains(finding.Evidence, "on 1 of 3 nodes, below the quorum of 2: "+about) {
			t.Errorf("%s: %s", finding.Key, finding.Evidence)
		}
	}
}

// TestUncomparedLocksAreCounted: a value that several owners may have, and the lock of a library that needs one node,
// say nothing of a quorum.
func TestUncomparedLocksAreCounted(t *testing.T) {
	f := startNodes(t, 3)
	c, ctx := f.clients[1], within(t)
	set(t, c, "lock:constant", "1", time.Minute)
	set(t, c, "lock:redis-py", "6fa459eaee8a11ee8ca40242ac130003", time.Minute) // on one node by design
	set(t, c, "lock:shedlock", shedLockValue(time.Now()), time.Minute)
	must(t, c.HSet(ctx, "lock:redisson", redissonID+":42", 1).Err())
	set(t, f.clients[0], "lock:redsync", redsyncValue, time.Minute)
	set(t, f.clients[2], "lock:redsync", redsyncValue, time.Minute)
	must(t, c.RPush(ctx, "lock:list", "a").Err())

	asked := scanner.WithChecks(inspect.Orphan)
	const uncompared = inspect.Reason("orphans_uncompared")
	count := func(what string, gaps []inspect.Gap, want ...string) {
		t.Helper()
		var got []string
		for _, g := range gaps {
			if g.Reason == uncompared {
				got = append(got, g.Node+" "+g.Detail)
			}
		}
		if len(got) != len(want) {
			t.Fatalf("%s: %q, want %q", what, got, want)
		}
		for i := range want {
			if !strings.Contains(got[i], want[i]) {
				t.Errorf("%s: %q, want %q", what, got[i], want[i])
			}
		}
	}
	of := func(node int, n string) string {
		return fmt.Sprint(f.servers[node].Addr(), " ", n, " of other libraries")
	}
	declared := sweep(t, newScanner(t, f.clients, scanner.WithOneRedlock(), asked))
	wantFindings(t, "declared", declared.Findings)
	count("declared", declared.Incomplete(), of(1, "4 locks"))
	byDefault := sweep(t, newScanner(t, f.clients, scanner.WithOneRedlock()))
	count("not asked for", byDefault.Skipped, of(1, "4 locks"))
	wantGaps(t, "not asked for", byDefault)

	must(t, redlock.Vouch(ctx, f.clients))
	proved := sweep(t, newScanner(t, f.clients, asked))
	count("the markers prove lockscope's Redlock alone", proved.Incomplete(), of(0, "1 lock"), of(1, "4 locks"),
		of(2, "1 lock"))
	if d := proved.Incomplete(); len(d) > 0 && !strings.Contains(d[0].Detail, "--redlock") {
		t.Errorf("no remedy: %+v", d[0])
	}
}

// TestOneNodeOfARedlock: one node does not show which of its locks are orphans.
func TestOneNodeOfARedlock(t *testing.T) {
	f := startNodes(t, 4)
	one, alone := f.clients[:1], f.clients[3:]
	set(t, one[0], "lock:a", lockscopeValue(token, time.Now()), time.Minute)
	asked := scanner.WithChecks(inspect.Orphan)
	wantGaps(t, "a server like any other", sweep(t, newScanner(t, one, asked)))
	must(t, redlock.Vouch(within(t), f.clients[:3]))
	r := sweep(t, newScanner(t, one, asked))
	wantGaps(t, "one of three", r, inspect.ReasonOrphans)
	if d := r.Incomplete()[0].Detail; !strings.Contains(d, "a Redlock of 3 nodes, and the number given is 1") {
		t.Error(d)
	}
	must(t, redlock.Vouch(within(t), alone))
	set(t, alone[0], "lock:a", lockscopeValue(token, time.Now()), time.Minute)
	wantGaps(t, "a Redlock of one node", sweep(t, newScanner(t, alone, asked)))
}

// TestOneServerTwice: a server that is named twice would make a quorum of one node's locks.
func TestOneServerTwice(t *testing.T) {
	f := startNodes(t, 2)
	_, port, _ := strings.Cut(f.servers[0].Addr(), ":")
	again := redis.NewClient(&redis.Options{Addr: "localhost:" + port})
	t.Cleanup(func() { must(t, again.Close()) })
	set(t, f.clients[0], "lock:a", lockscopeValue(token, time.Now()), time.Minute)
	r := sweep(t, newScanner(t, append(f.clients, again), scanner.WithOneRedlock(), scanner.WithChecks(inspect.Orphan)))
	wantGaps(t, "twice", r, inspect.ReasonOrphans)
	if !strings.Contains(fmt.Sprint(r.Incomplete()), "are the same server: name each node once") {
		t.Errorf("%+v", r.Incomplete())
	}
}
