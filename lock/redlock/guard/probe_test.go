package guard

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

// evicting returns the INFO of a server with a policy that evicts, after it evicted this many keys.
func evicting(runID, keys string) fakeServer {
	return server(runID, 3600, "maxmemory:1", "maxmemory_policy:volatile-ttl", "evicted_keys:"+keys)
}

// TestAServerIsProbedEverySecond, by one caller at a time, and only after it was first met.
func TestAServerIsProbedEverySecond(t *testing.T) {
	f := newFixture(t)
	if f.ProbeDue() {
		t.Error("a node that was never met is probed")
	}
	f.meets(server("a", 3600))
	f.clock.now += reexamineAfter - 1
	if f.ProbeDue() {
		t.Error("it was probed less than a second ago")
	}
	f.clock.now++
	if !f.ProbeDue() || f.ProbeDue() {
		t.Error("one of two callers probes after a second")
	}
	f.Probed(evicting("a", "0").info, nil)
	if err := f.Verdict(f.Latest()); !errors.Is(err, driver.ErrEvicting) {
		t.Errorf("%v, want that it evicts", err)
	}
	off := newFixture(t, func(c *Config) { c.Off = true })
	off.clock.now += time.Hour
	if off.ProbeDue() {
		t.Error("a guard that is off probes")
	}
}

// TestClocksAreCompared by the INFO that is sent anyway. A reply that took long tells nothing.
func TestClocksAreCompared(t *testing.T) {
	f := newFixture(t)
	said := func(ahead time.Duration) fakeServer {
		return server("a", 3600, fmt.Sprintf("server_time_usec:%d", time.Now().Add(ahead).UnixMicro()))
	}
	wants := func(what string, want time.Duration) {
		t.Helper()
		if got := f.ClockSkew(); (got - want).Abs() > 10*time.Second {
			t.Errorf("%s: %v, want about %v", what, got, want)
		}
	}
	f.meets(server("a", 3600))
	if got := f.ClockSkew(); got != 0 {
		t.Errorf("a server that does not tell its time: %v", got)
	}
	f.meets(said(time.Hour))
	wants("on a new connection", time.Hour)
	f.clock.now += reexamineAfter
	f.ProbeDue()
	f.Probed(said(-time.Hour).info, nil)
	wants("by a probe", -time.Hour)
	f.clock.now += reexamineAfter
	f.ProbeDue()
	f.clock.now += 2 * time.Second
	f.Probed(said(time.Hour).info, nil)
	wants("by a probe that took two seconds", -time.Hour)
}

// TestAProbeThatFails proves nothing about the server unless the server refuses it.
func TestAProbeThatFails(t *testing.T) {
	f := newFixture(t)
	f.meets(server("a", 3600))
	f.Probed("", driver.ErrTimeout)
	if err := f.Verdict(f.Latest()); err != nil {
		t.Error(err)
	}
	f.Probed("", replyError("NOPERM no INFO for you"))
	if err := f.Verdict(f.Latest()); !errors.Is(err, driver.ErrUnexamined) {
		t.Errorf("%v, want that it cannot be examined", err)
	}
}

// TestAServerThatCannotAnswerNow does not refuse INFO: its state is still unknown, and nobody has to change a setting.
func TestAServerThatCannotAnswerNow(t *testing.T) {
	for _, text := range []string{
		"BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
		"LOADING Redis is loading the dataset in memory",
		"TRYAGAIN Multiple keys request during rehashing of slot", "CLUSTERDOWN The cluster is down",
	} {
		f, reply := newFixture(t), replyError(text)
		f.meets(server("a", 3600))
		f.votes()
		f.clock.now += reexamineAfter
		f.ProbeDue()
		f.Probed("", reply)
		if err := f.Verdict(f.Latest()); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if sight, err := f.Examine(t.Context(), fakeServer{err: reply}); !errors.Is(err, reply) || sight != (Sight{}) {
			t.Errorf("%s: a new connection is used: %+v, %v", text, sight, err)
		}
	}
}

// markerless is a server that answers INFO, and not what follows.
type markerless struct{ fakeServer }

func (s markerless) Info(context.Context) (string, error) { return s.info, nil }

// TestAMarkerThatCannotBeReadNow may be a vouch, or an identity.
func TestAMarkerThatCannotBeReadNow(t *testing.T) {
	loading := replyError("LOADING Redis is loading the dataset in memory")
	for name, c := range map[string]struct {
		change func(*Config)
		server fakeServer
	}{
		"of a vouch":     {func(c *Config) { c.Enforce = false }, server("a", 1)},
		"of an identity": {func(c *Config) { c.ByMarker = true }, server("", 3600)},
	} {
		f := newFixture(t, c.change)
		c.server.err = loading
		if _, err := f.Examine(t.Context(), markerless{c.server}); !errors.Is(err, loading) || f.Restart() != nil {
			t.Errorf("%s: the connection is used: %v", name, err)
		}
	}
	f := newFixture(t, func(c *Config) { c.Enforce = false })
	replica := server("a", 1, "role:slave")
	replica.err = replyError("MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.")
	_, err := f.Examine(t.Context(), markerless{replica})
	if err != nil || !errors.Is(f.Verdict(f.Latest()), driver.ErrReplica) {
		t.Errorf("a replica without its master: %v, %v", err, f.Verdict(f.Latest()))
	}
}

// TestEvictedKeysMakeAnotherMemory: a vote that was sent before the eviction does not count. A later one meets a marker
// that is not its own, even if the policy was mended meanwhile. This holds on every connection to the process, and on
// no other.
func TestEvictedKeysMakeAnotherMemory(t *testing.T) {
	f := newFixture(t)
	before := f.meets(server("a", 3600))
	f.votes()
	another := Sight{runID: "b", expected: "b's"}
	f.Probed(server("a", 3600, "evicted_keys:5").info, nil)
	if err := f.Verdict(before); !errors.Is(err, driver.ErrQuarantined) {
		t.Errorf("a vote on what was seen before: %v", err)
	}
	now := f.Renewed(before)
	if now.Expected() != votingMarker(ours, "a+5", 0) || now.RunID() != "a" || f.Renewed(another) != another {
		t.Errorf("%+v, and another is %+v", now, f.Renewed(another))
	}
	f.refuses("q1", 60*time.Second)
	if got := f.Restart(); got == nil || *got != (driver.Restart{Witnessed: true, Left: 60 * time.Second,
		Enforced: true, Evicted: true}) {
		t.Errorf("reported %+v", got)
	}
	if err := f.Verdict(now); err != nil {
		t.Errorf("once it votes: %v", err)
	}
}

// TestEvictionIsAccepted with the option: otherwise a node that evicts all the time would never vote.
func TestEvictionIsAccepted(t *testing.T) {
	f := newFixture(t, func(c *Config) { c.EvictionOK = true })
	before := f.meets(evicting("a", "1"))
	f.votes()
	f.Probed(evicting("a", "2").info, nil)
	if err := f.Verdict(before); err != nil || f.Renewed(before).Expected() != votingMarker(ours, "a", 0) ||
		f.Restart() != nil {
		t.Errorf("%v, %+v", err, f.Renewed(before))
	}
}

// TestEvictionIsReported where nodes are allowed to vote anyway.
func TestEvictionIsReported(t *testing.T) {
	f := newFixture(t, func(c *Config) { c.Enforce = false })
	f.meets(server("a", 3600))
	f.Probed(server("a", 3600, "evicted_keys:5").info, nil)
	f.votes()
	if got := f.Restart(); got == nil || *got != (driver.Restart{Witnessed: true, Left: quarantineForTest,
		Evicted: true}) {
		t.Errorf("reported %+v", got)
	}
}

// TestAFitMasterSaysNothingOfTheOthers: only a probe of all masters of a cluster withdraws a finding.
func TestAFitMasterSaysNothingOfTheOthers(t *testing.T) {
	f := newFixture(t, func(c *Config) { c.Cluster = true })
	f.meets(server("m1", 3600))
	f.meets(evicting("m2", "0"))
	f.meets(server("m3", 3600))
	if err := f.Verdict(f.Latest()); !errors.Is(err, driver.ErrEvicting) {
		t.Errorf("%v, want that one of them evicts", err)
	}
	f.Probed(server("m1", 3600).info, nil)
	if err := f.Verdict(f.Latest()); err != nil {
		t.Error(err)
	}
}
