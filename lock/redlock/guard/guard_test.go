package guard

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

const quarantineForTest = 60 * time.Second

type manualClock struct{ now time.Duration }

func (c *manualClock) read() time.Duration { return c.now }

// fakeServer answers what it is set to.
type fakeServer struct {
	info, life string
	err        error
}

func (s fakeServer) Info(context.Context) (string, error) { return s.info, s.err }
func (s fakeServer) Life(context.Context) (string, error) { return s.life, s.err }

// server is one that has been up for so many whole seconds.
func server(runID string, uptime int, more ...string) fakeServer {
	text := fmt.Sprintf("# Server\r\nrun_id:%s\r\nuptime_in_seconds:%d\r\nrole:master\r\n", runID, uptime)
	for _, line := range more {
		text += line + "\r\n"
	}
	return fakeServer{info: text}
}

func (s fakeServer) vouchedFor(runID string) fakeServer {
	s.life = Vouched(runID, "nonce")
	return s
}

type fixture struct {
	t     *testing.T
	clock *manualClock
	*Guard
}

func newFixture(t *testing.T, change ...func(*Config)) *fixture {
	clock := &manualClock{now: time.Hour}
	c := Config{Node: "n1", Servers: NewServers(), Clock: clock.read, Quarantine: quarantineForTest, Enforce: true}
	for _, f := range change {
		f(&c)
	}
	return &fixture{t, clock, New(c)}
}

func (f *fixture) meets(s fakeServer) {
	f.t.Helper()
	if err := f.Examine(f.t.Context(), s); err != nil {
		f.t.Fatal(err)
	}
}

func TestARestartedNodeIsSilent(t *testing.T) {
	for name, c := range map[string]struct {
		steps func(f *fixture)
		left  time.Duration // of the quarantine; 0 if none
	}{
		"up for long": {func(f *fixture) { f.meets(server("a", 3600)) }, 0},
		// Redis says 10 as soon as 9.001 s have passed.
		"just started":                           {func(f *fixture) { f.meets(server("a", 10)) }, 51 * time.Second},
		"up for the quarantine by its own count": {func(f *fixture) { f.meets(server("a", 60)) }, time.Second},
		"appendonly now, whatever it was before": {func(f *fixture) {
			f.meets(server("a", 0, "aof_enabled:1"))
		}, 60 * time.Second},
		"restarted while we were connected": {func(f *fixture) {
			f.meets(server("a", 3600))
			f.clock.now += 5 * time.Minute
			f.meets(server("b", 2))
		}, 59 * time.Second},
		"uptime stretched by a clock jump": {func(f *fixture) {
			f.meets(server("a", 3600))
			f.clock.now += 10 * time.Second
			f.meets(server("b", 3600))
		}, 60 * time.Second},
		"clock an hour ahead after days on old connections": {func(f *fixture) {
			f.meets(server("a", 3600))
			f.clock.now += 5 * 24 * time.Hour
			f.Answered() // a vote, on a connection made five days ago
			f.clock.now += 2 * time.Second
			f.meets(server("b", 3601))
		}, 60 * time.Second},
		"same server seen again": {func(f *fixture) {
			f.meets(server("a", 10))
			f.clock.now += 20 * time.Second
			f.meets(server("a", 30))
		}, 31 * time.Second},
		"quarantine over": {func(f *fixture) {
			f.meets(server("a", 0))
			f.clock.now += quarantineForTest
		}, 0},
		"vouched for": {func(f *fixture) { f.meets(server("a", 1).vouchedFor("a")) }, 0},
		"vouched for while we watched": {func(f *fixture) {
			f.meets(server("a", 1))
			f.meets(server("a", 2).vouchedFor("a"))
		}, 0},
		"another process was vouched for": {func(f *fixture) { f.meets(server("b", 0).vouchedFor("a")) }, 60 * time.Second},
		"only half vouched for": {func(f *fixture) {
			s := server("a", 0)
			s.life = Vouching("a", "nonce")
			f.meets(s)
		}, 60 * time.Second},
		"a late word of the process that is gone": {func(f *fixture) {
			f.meets(server("a", 1).vouchedFor("a"))
			f.meets(server("b", 0))
			f.meets(server("a", 1).vouchedFor("a"))
			f.meets(server("a", 1).vouchedFor("a"))
		}, 60 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			c.steps(f)
			err := f.Verdict()
			if c.left == 0 {
				if err != nil {
					t.Fatalf("may not vote: %v", err)
				}
				return
			}
			if !errors.Is(err, driver.ErrQuarantined) {
				t.Fatalf("got %v, want a quarantine", err)
			}
			f.clock.now += c.left - 1
			if f.Verdict() == nil {
				t.Error("voted before its time")
			}
			f.clock.now++
			if err := f.Verdict(); err != nil {
				t.Errorf("still silent after %v: %v", c.left, err)
			}
		})
	}
}

func TestRestartsAreToldOnce(t *testing.T) {
	for name, c := range map[string]struct {
		enforce bool
		steps   func(f *fixture)
		want    *driver.Restart
	}{
		"old server": {false, func(f *fixture) { f.meets(server("a", 3600)) }, nil},
		"met young":  {false, func(f *fixture) { f.meets(server("a", 11)) }, &driver.Restart{Left: 50 * time.Second}},
		"witnessed": {false, func(f *fixture) {
			f.meets(server("a", 3600))
			f.clock.now += time.Minute
			f.meets(server("b", 1))
		}, &driver.Restart{Witnessed: true, Left: 60 * time.Second}},
		"enforced": {true, func(f *fixture) { f.meets(server("a", 1)) }, &driver.Restart{Left: 60 * time.Second, Enforced: true}},
		"vouched for": {true, func(f *fixture) {
			f.meets(server("a", 1).vouchedFor("a"))
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.Enforce = c.enforce
			c.steps(f)
			if err := f.Verdict(); (err != nil) != (c.enforce && c.want != nil) {
				t.Errorf("verdict: %v", err)
			}
			got := f.Restart()
			if (got != nil) != (c.want != nil) || got != nil && *got != *c.want {
				t.Errorf("told %+v, want %+v", got, c.want)
			}
			f.meets(server("a", 3600))
			if c.want != nil && c.want.Witnessed {
				return // another restart
			}
			if got := f.Restart(); got != nil {
				t.Errorf("told again: %+v", got)
			}
		})
	}
}

func TestProblemsAreNamed(t *testing.T) {
	first := newFixture(t)
	first.meets(server("same", 3600))
	if err := first.Verdict(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		server fakeServer
		want   error
	}{
		"duplicate":       {server("same", 3600), driver.ErrDuplicate},
		"replica":         {fakeServer{info: "run_id:r\r\nuptime_in_seconds:3600\r\nrole:slave\r\n"}, driver.ErrReplica},
		"evicting":        {server("e", 3600, "maxmemory:1", "maxmemory_policy:volatile-lru"), driver.ErrEvicting},
		"no limit":        {server("f", 3600, "maxmemory_policy:allkeys-lru"), nil},
		"mended":          {server("e", 3600, "maxmemory:1", "maxmemory_policy:noeviction"), nil},
		"no run id":       {fakeServer{info: "role:master\r\nuptime_in_seconds:3600\r\n"}, driver.ErrUnexamined},
		"no role":         {fakeServer{info: "run_id:a\r\nuptime_in_seconds:3600\r\n"}, driver.ErrUnexamined},
		"INFO is refused": {fakeServer{err: replyError("NOPERM no INFO for you")}, driver.ErrUnexamined},
	} {
		// Of the same name, too: a name is no identity.
		g := newFixture(t, func(c *Config) { c.Servers = first.Servers })
		g.meets(c.server)
		if err := g.Verdict(); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

type replyError string

func (e replyError) Error() string { return string(e) }
func (replyError) RedisError()     {}

// A cluster client asks replicas about the topology; that a connection leads to one says nothing of the cluster.
func TestAClustersReplicasAreNoProblem(t *testing.T) {
	f := newFixture(t, func(c *Config) { c.Cluster = true })
	f.meets(server("master-1", 3600))
	f.meets(fakeServer{info: "run_id:r\r\nuptime_in_seconds:3600\r\nrole:slave\r\n"})
	f.meets(server("master-2", 3600))
	if err := f.Verdict(); err != nil {
		t.Error(err)
	}
	// Two clients of one cluster are one node, whichever of its masters each of them happened to meet.
	other := newFixture(t, func(c *Config) { c.Cluster, c.Servers = true, f.Servers })
	other.meets(server("master-3", 3600))
	other.meets(server("master-1", 3600))
	if err := other.Verdict(); !errors.Is(err, driver.ErrDuplicate) {
		t.Errorf("%v, want %v", err, driver.ErrDuplicate)
	}
}

func TestARestartedServerMayTakeItsNodesPlace(t *testing.T) {
	servers := NewServers()
	one, two := New(Config{Node: "n", Servers: servers}), New(Config{Node: "n", Servers: servers})
	for _, runID := range []string{"a", "b"} {
		if other, taken := servers.claim(runID, one); taken {
			t.Fatal(other)
		}
	}
	if other, taken := servers.claim("a", two); taken {
		t.Errorf("%s still claims a run id it no longer has", other)
	}
}

func TestAFindingIsLookedAtAfresh(t *testing.T) {
	f := newFixture(t)
	f.meets(server("a", 1))
	vouched := server("a", 3).vouchedFor("a")
	if err := f.Admit(t.Context(), vouched); !errors.Is(err, driver.ErrQuarantined) {
		t.Errorf("%v, want what was just found", err)
	}
	f.clock.now += 2 * reexamineAfter
	if err := f.Admit(t.Context(), fakeServer{err: errors.New("no answer")}); !errors.Is(err, driver.ErrQuarantined) {
		t.Errorf("%v, want what is known", err)
	}
	f.clock.now += 2 * reexamineAfter
	if err := f.Admit(t.Context(), vouched); err != nil {
		t.Errorf("still silent: %v", err)
	}
}
