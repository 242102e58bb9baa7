package lock

import (
	"errors"
	"testing"
	"time"
)

const quarantineForTest = 60 * time.Second

type manualClock struct{ now time.Duration }

func (c *manualClock) read() time.Duration { return c.now }

func newTestGuard(c *manualClock, ids *runIDs, name string) *guard {
	return &guard{name: name, nodes: ids, clock: c.read, quarantine: quarantineForTest}
}

func TestGuardKeepsARestartedNodeSilent(t *testing.T) {
	for name, c := range map[string]struct {
		steps func(g *guard, clock *manualClock)
		left  time.Duration // of the quarantine; 0 if none
	}{
		"up for long": {func(g *guard, _ *manualClock) { g.judge(serverInfo{runID: "a", uptime: time.Hour}, false) }, 0},
		"just started": {func(g *guard, _ *manualClock) {
			g.judge(serverInfo{runID: "a", uptime: 10 * time.Second}, false)
		}, 50 * time.Second},
		"durable": {func(g *guard, _ *manualClock) { g.judge(serverInfo{runID: "a"}, true) }, 0},
		"restarted while we were connected": {func(g *guard, clock *manualClock) {
			g.judge(serverInfo{runID: "a", uptime: time.Hour}, false)
			clock.now += 5 * time.Minute
			g.judge(serverInfo{runID: "b", uptime: 2 * time.Second}, false)
		}, 58 * time.Second},
		"uptime stretched by a clock jump": {func(g *guard, clock *manualClock) {
			g.judge(serverInfo{runID: "a", uptime: time.Hour}, false)
			clock.now += 10 * time.Second
			g.judge(serverInfo{runID: "b", uptime: time.Hour}, false)
		}, 60 * time.Second},
		"same server seen again": {func(g *guard, clock *manualClock) {
			g.judge(serverInfo{runID: "a", uptime: 10 * time.Second}, false)
			clock.now += 20 * time.Second
			g.judge(serverInfo{runID: "a", uptime: 30 * time.Second}, false)
		}, 30 * time.Second},
		"quarantine over": {func(g *guard, clock *manualClock) {
			g.judge(serverInfo{runID: "a"}, false)
			clock.now += quarantineForTest
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			clock := &manualClock{now: time.Hour}
			g := newTestGuard(clock, newRunIDs(), "n1")
			c.steps(g, clock)
			err := g.verdict()
			if c.left == 0 {
				if err != nil {
					t.Fatalf("may not vote: %v", err)
				}
				return
			}
			if !errors.Is(err, ErrQuarantined) {
				t.Fatalf("got %v, want a quarantine", err)
			}
			clock.now += c.left - 1
			if g.verdict() == nil {
				t.Error("voted before its time")
			}
			clock.now++
			if err := g.verdict(); err != nil {
				t.Errorf("still silent after %v: %v", c.left, err)
			}
		})
	}
}

func TestGuardNamesProblems(t *testing.T) {
	clock := &manualClock{}
	ids := newRunIDs()
	first := newTestGuard(clock, ids, "n1")
	first.judge(serverInfo{runID: "same", uptime: time.Hour}, false)
	if err := first.verdict(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		info serverInfo
		want error
	}{
		"duplicate": {serverInfo{runID: "same", uptime: time.Hour}, ErrDuplicateNode},
		"replica":   {serverInfo{runID: "r", uptime: time.Hour, role: "slave"}, ErrReplica},
		"evicting":  {serverInfo{runID: "e", uptime: time.Hour, maxMemory: 1, policy: "volatile-lru"}, ErrEvicting},
		"no limit":  {serverInfo{runID: "f", uptime: time.Hour, policy: "allkeys-lru"}, nil},
		"mended":    {serverInfo{runID: "e", uptime: time.Hour, maxMemory: 1, policy: "noeviction"}, nil},
	} {
		g := newTestGuard(clock, ids, "n2")
		g.judge(c.info, false)
		if err := g.verdict(); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

func TestARestartedServerMayTakeItsNodesPlace(t *testing.T) {
	ids := newRunIDs()
	if other := ids.claim("a", "n1"); other != "" {
		t.Fatal(other)
	}
	if other := ids.claim("b", "n1"); other != "" {
		t.Fatal(other)
	}
	if other := ids.claim("a", "n2"); other != "" {
		t.Errorf("n1 still claims a run id it no longer has: %s", other)
	}
}

func FuzzParseInfo(f *testing.F) {
	f.Add("# Server\r\nrun_id:abc\r\nuptime_in_seconds:12\r\nrole:master\r\nmaxmemory:100\r\nmaxmemory_policy:allkeys-lru\r\naof_enabled:1\r\n")
	f.Add("uptime_in_seconds:99999999999999999999")
	f.Fuzz(func(t *testing.T, text string) {
		if info := parseInfo(text); info.uptime < 0 {
			t.Fatalf("negative uptime %v", info.uptime)
		}
	})
}
