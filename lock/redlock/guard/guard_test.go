package guard

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

const quarantineForTest = 60 * time.Second

type manualClock struct{ now time.Duration }

func (c *manualClock) read() time.Duration { return c.now }

// fakeServer gives the answers that a test sets.
type fakeServer struct {
	info, marker string
	err          error
	answers      *[]Answer // of quarantine.lua in this order; the last repeats
	asked        *[]Ask
}

func (s fakeServer) Info(context.Context) (string, error)   { return s.info, s.err }
func (s fakeServer) Marker(context.Context) (string, error) { return s.marker, s.err }

func (s fakeServer) Ask(_ context.Context, a Ask) (Answer, error) {
	if s.answers == nil {
		return Answer{}, s.err
	}
	*s.asked = append(*s.asked, a)
	answer := (*s.answers)[0]
	if len(*s.answers) > 1 {
		*s.answers = (*s.answers)[1:]
	}
	return answer, nil
}

// server returns the INFO of a server with this uptime in whole seconds, which evicts nothing unless more says so. The
// last value of a field counts.
func server(runID string, uptime int, more ...string) fakeServer {
	text := fmt.Sprintf(
		"# Server\r\nrun_id:%s\r\nuptime_in_seconds:%d\r\nrole:master\r\nmaxmemory:0\r\n"+
			"maxmemory_policy:noeviction\r\n", runID, uptime)
	for _, line := range more {
		text += line + "\r\n"
	}
	return fakeServer{info: text}
}

func (s fakeServer) vouchedFor(runID string) fakeServer {
	s.marker = votingMarker(ours, runID, 0)
	return s
}

// answering sets the answers of quarantine.lua.
func (s fakeServer) answering(all ...Answer) fakeServer {
	s.answers, s.asked = &all, new([]Ask)
	return s
}

var (
	ours   = NewFingerprint([]string{"a", "b", "c"}, time.Minute)
	theirs = NewFingerprint([]string{"a", "b", "c", "d", "e"}, time.Minute)
)

// silent is the answer of a server that keeps a quarantine.
func silent(identity string, left time.Duration) Answer {
	return Answer{Code: AnswerQuarantined, Left: left,
		Marker: "quarantine" + strings.TrimPrefix(votingMarker(ours, "a", 0), "voting") + "|" + identity + "|60000|1|1"}
}

type fixture struct {
	t     *testing.T
	clock *manualClock
	*Guard
}

func newFixture(t *testing.T, change ...func(*Config)) *fixture {
	clock := &manualClock{now: time.Hour}
	c := Config{Node: "n1", Servers: NewServers(), Clock: clock.read, Quarantine: quarantineForTest, Enforce: true,
		Fingerprint: ours}
	for _, f := range change {
		f(&c)
	}
	return &fixture{t, clock, New(c)}
}

func (f *fixture) meets(s fakeServer) Sight {
	f.t.Helper()
	sight, err := f.Examine(f.t.Context(), s)
	if err != nil {
		f.t.Fatal(err)
	}
	return sight
}

func TestASightIsOfItsConnection(t *testing.T) {
	f := newFixture(t)
	if got := f.Latest().Expected(); got != unexamined {
		t.Errorf("before any connection a server votes with %q", got)
	}
	first, second := f.meets(server("a", 1)), f.meets(server("b", 1))
	if first.Expected() != votingMarker(ours, "a", 0) || second.Expected() != votingMarker(ours, "b", 0) ||
		f.Latest() != second {
		t.Errorf("%+v, then %+v; the latest is %+v", first, second, f.Latest())
	}
	if blind := f.meets(fakeServer{err: replyError("NOPERM no INFO for you")}); blind.Expected() != unexamined ||
		blind.Fingerprint() != string(ours) {
		t.Errorf("where INFO is refused: %+v", blind)
	}
	if (Sight{}).Expected() != unexamined || (Sight{}).Fingerprint() != unexamined {
		t.Error("the zero value votes")
	}
	for name, c := range map[string]struct {
		change   func(*Config)
		expected Fingerprint
	}{
		"off":           {func(c *Config) { c.Off = true }, ""},
		"Redis Cluster": {func(c *Config) { c.Cluster = true }, ""},
		"not enforced":  {func(c *Config) { c.Enforce = false }, ours},
		"no quarantine": {func(c *Config) { c.Quarantine = 0 }, ours},
	} {
		g := newFixture(t, c.change)
		if s := g.meets(server("a", 1)); s.Expected() != string(c.expected) || s.Fingerprint() != s.Expected() {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// TestACallerThatExpectsNoMarkerBeginsNoQuarantine: the server that refused it may have lost its marker by now.
func TestACallerThatExpectsNoMarkerBeginsNoQuarantine(t *testing.T) {
	alone := NewFingerprint([]string{"c"}, time.Minute)
	for marker, c := range map[string]struct {
		want error
		says string
	}{
		votingMarker(ours, "before", 0):                               {ErrOtherConfiguration, "set of 3 nodes, you named 1"},
		"changing|" + string(alone) + "|a|0|n|1|0|0|" + string(ours):  {driver.ErrQuarantined, "not finished"},
		"changing|" + string(theirs) + "|a|0|n|1|0|0|" + string(ours): {ErrOtherConfiguration, "set of 5 nodes, you named 1"},
		"": {ErrOtherConfiguration, "reconfigure"},
	} {
		f := newFixture(t, func(c *Config) { c.Enforce, c.Fingerprint = false, alone })
		s := server("a", 3600).answering(silent("q1", time.Minute))
		s.marker = marker
		f.meets(s)
		if err := f.Unproven(t.Context(), s); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) ||
			len(*s.asked) > 0 {
			t.Errorf("%q: %v after %v", marker, err, *s.asked)
		}
		if err := f.Admit(t.Context(), s); err != nil {
			t.Errorf("%q: not sent again: %v", marker, err)
		}
	}
	// The quarantine of a change to its set is its own to end.
	f := newFixture(t, func(c *Config) { c.Enforce, c.Fingerprint = false, alone })
	s := server("a", 3600).answering(silent("change-q", time.Minute), silent("change-q", time.Minute),
		Answer{Code: AnswerVotes})
	s.marker = "quarantine|" + string(alone) + "|a|0|change-q|60000|0|0"
	f.meets(s)
	if err := f.Unproven(t.Context(), s); !errors.Is(err, driver.ErrQuarantined) {
		t.Errorf("after a change: %v", err)
	}
	f.clock.now += 2 * time.Minute
	if err := f.Admit(t.Context(), s); err != nil {
		t.Errorf("after its quarantine: %v", err)
	}
}

// TestAQuarantineIsCountedFromWhenItWasRead: the process that begins one asks again, with its identity.
func TestAQuarantineIsCountedFromWhenItWasRead(t *testing.T) {
	f := newFixture(t)
	s := server("a", 3600).answering(silent("q1", 60*time.Second), silent("q1", 60*time.Second),
		silent("q1", 40*time.Second), Answer{Code: AnswerVotes})
	f.meets(s)
	if err := f.Unproven(t.Context(), s); !errors.Is(err, driver.ErrQuarantined) {
		t.Fatalf("%v, want a quarantine", err)
	}
	if asked := *s.asked; len(asked) != 2 || asked[0].Known != "" || asked[1].Known != "q1" ||
		asked[0].Nonce == asked[1].Nonce || asked[0].Length != quarantineForTest {
		t.Errorf("asked %+v", asked)
	}
	if err := f.Admit(t.Context(), s); !errors.Is(err, driver.ErrQuarantined) || len(*s.asked) != 2 {
		t.Errorf("%v after %d questions: what was just said is believed", err, len(*s.asked))
	}
	f.clock.now += 2 * reexamineAfter
	if err := f.Admit(t.Context(), s); !errors.Is(err, driver.ErrQuarantined) ||
		!strings.Contains(err.Error(), "wait 40s") || len(*s.asked) != 3 {
		t.Errorf("%v after %d questions", err, len(*s.asked))
	}
	f.clock.now += 40 * time.Second
	if err := f.Admit(t.Context(), s); err != nil || f.Verdict(f.Latest()) != nil {
		t.Errorf("still silent: %v", err)
	}
	if err := f.Admit(t.Context(), s); err != nil || len(*s.asked) != 4 {
		t.Errorf("%v after %d questions", err, len(*s.asked))
	}
}

func TestWhatElseKeepsANodeSilent(t *testing.T) {
	for name, c := range map[string]struct {
		answer Answer
		want   error
		says   []string
	}{
		"another configuration": {Answer{Code: AnswerOther, Marker: votingMarker(theirs, "a", 0)},
			ErrOtherConfiguration, []string{"5 nodes", "3 nodes", "reconfigure"}},
		"a change that removed it": {Answer{Code: AnswerOther,
			Marker: "changing|" + string(theirs) + "|a|0|left-change-1|1|0|0|" + string(ours)},
			ErrOtherConfiguration, []string{"it left its set by a change to 5 nodes", "name the nodes of that"}},
		"an unfinished change": {Answer{Code: AnswerChanging, Marker: "changing"}, driver.ErrQuarantined,
			[]string{"not finished", "reconfigure"}},
	} {
		f := newFixture(t)
		s := server("a", 3600).answering(c.answer, Answer{Code: AnswerVotes})
		f.meets(s)
		err := f.Unproven(t.Context(), s)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
		for _, text := range c.says {
			if err == nil || !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %v does not say %q", name, err, text)
			}
		}
		if err := f.Admit(t.Context(), s); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want what was just found", name, err)
		}
		f.clock.now += 2 * reexamineAfter
		if err := f.Admit(t.Context(), s); err != nil {
			t.Errorf("%s: still silent: %v", name, err)
		}
	}
	f := newFixture(t)
	f.meets(server("a", 1))
	if err := f.Unproven(t.Context(), fakeServer{err: driver.ErrTimeout}); !errors.Is(err, driver.ErrTimeout) {
		t.Errorf("a server that does not say: %v", err)
	}
	if err := f.OtherConfiguration(votingMarker(theirs, "a", 0)); !errors.Is(err, ErrOtherConfiguration) ||
		driver.ClassOf(err) != driver.Misconfigured {
		t.Errorf("an extend: %v", err)
	}
}

func TestRestartsAreReportedOnce(t *testing.T) {
	for name, c := range map[string]struct {
		enforce bool
		steps   func(f *fixture)
		want    *driver.Restart
	}{
		"old server": {false, func(f *fixture) { f.meets(server("a", 3600)) }, nil},
		// Redis reports 11 as soon as 10.001 s have passed.
		"met young": {false, func(f *fixture) { f.meets(server("a", 11)) }, &driver.Restart{Left: 50 * time.Second}},
		"witnessed": {false, func(f *fixture) {
			f.meets(server("a", 3600))
			f.clock.now += time.Minute
			f.meets(server("b", 1))
		}, &driver.Restart{Witnessed: true, Left: 60 * time.Second}},
		"vouched for": {false, func(f *fixture) { f.meets(server("a", 1).vouchedFor("a")) }, nil},
		"another process was vouched for": {false, func(f *fixture) {
			f.meets(server("a", 1).vouchedFor("b"))
		}, &driver.Restart{Left: 60 * time.Second}},
		"enforced, and it votes": {true, func(f *fixture) {
			f.meets(server("a", 1))
			f.votes()
		}, nil},
		"enforced, and silent when first met": {true, func(f *fixture) {
			f.meets(server("a", 1))
			f.refuses("q1", 50*time.Second)
		}, &driver.Restart{Left: 50 * time.Second, Enforced: true}},
		"enforced, and witnessed": {true, func(f *fixture) {
			f.meets(server("a", 3600))
			f.votes()
			f.meets(server("b", 1))
			f.refuses("q1", 60*time.Second)
		}, &driver.Restart{Witnessed: true, Left: 60 * time.Second, Enforced: true}},
		"enforced, and flushed": {true, func(f *fixture) {
			f.meets(server("a", 3600))
			f.votes()
			f.refuses("q1", 60*time.Second)
			f.clock.now += 2 * reexamineAfter
			f.refuses("q1", 58*time.Second)
		}, &driver.Restart{Witnessed: true, Left: 60 * time.Second, Enforced: true}},
		"enforced, and vouched for meanwhile": {true, func(f *fixture) {
			f.meets(server("a", 3600))
			f.votes()
			f.meets(server("b", 1))
			f.votes()
		}, &driver.Restart{Witnessed: true}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.Enforce = c.enforce
			c.steps(f)
			got := f.Restart()
			if (got != nil) != (c.want != nil) || got != nil && *got != *c.want {
				t.Errorf("reported %+v, want %+v", got, c.want)
			}
			if got := f.Restart(); got != nil {
				t.Errorf("reported again: %+v", got)
			}
		})
	}
}

// votes is a vote with a valid proof.
func (f *fixture) votes() {
	f.t.Helper()
	if err := f.Verdict(f.Latest()); err != nil {
		f.t.Fatal(err)
	}
}

// refuses is an acquire on which the server did not vote.
func (f *fixture) refuses(identity string, left time.Duration) {
	f.t.Helper()
	err := f.Unproven(f.t.Context(), server("a", 1).answering(silent(identity, left)))
	if !errors.Is(err, driver.ErrQuarantined) {
		f.t.Fatal(err)
	}
}

func TestProblemsAreNamed(t *testing.T) {
	first := newFixture(t)
	first.meets(server("same", 3600))
	if err := first.Verdict(first.Latest()); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		server fakeServer
		want   error
	}{
		"duplicate": {server("same", 3600), driver.ErrDuplicate},
		"replica": {fakeServer{info: "run_id:r\r\nuptime_in_seconds:3600\r\nrole:slave\r\n"},
			driver.ErrReplica},
		"evicting":       {server("e", 3600, "maxmemory:1", "maxmemory_policy:volatile-lru"), driver.ErrEvicting},
		"evicting anew":  {server("e", 3600, "maxmemory:1", "maxmemory_policy:volatile-lrm"), driver.ErrEvicting},
		"no limit":       {server("f", 3600, "maxmemory_policy:allkeys-lru"), nil},
		"mended":         {server("e", 3600, "maxmemory:1", "maxmemory_policy:noeviction"), nil},
		"active replica": {fakeServer{info: "run_id:r\r\nrole:active-replica\r\n"}, driver.ErrReplica},
		"unknown role": {fakeServer{info: "run_id:r\r\nrole:other\r\nmaxmemory:0\r\nmaxmemory_policy:noeviction\r\n"},
			driver.ErrUnexamined},
		"no policy": {fakeServer{info: "run_id:p\r\nrole:master\r\nmaxmemory:0\r\n"}, driver.ErrUnexamined},
		"no limit given": {fakeServer{info: "run_id:p\r\nrole:master\r\nmaxmemory_policy:allkeys-lru\r\n"},
			driver.ErrUnexamined},
		"no run id":       {fakeServer{info: "role:master\r\nuptime_in_seconds:3600\r\n"}, driver.ErrUnexamined},
		"no role":         {fakeServer{info: "run_id:a\r\nuptime_in_seconds:3600\r\n"}, driver.ErrUnexamined},
		"no password":     {fakeServer{err: replyError("NOAUTH Authentication required.")}, driver.ErrDenied},
		"INFO is refused": {fakeServer{err: replyError("NOPERM no INFO for you")}, driver.ErrUnexamined},
	} {
		// Even one of the same name: a name is no identity.
		g := newFixture(t, func(c *Config) { c.Servers = first.Servers })
		g.meets(c.server)
		if err := g.Verdict(g.Latest()); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

type replyError string

func (e replyError) Error() string { return string(e) }
func (replyError) RedisError()     {}

// A cluster client asks replicas for the topology. A connection that leads to one proves nothing about the cluster.
func TestAClustersReplicasAreNoProblem(t *testing.T) {
	f := newFixture(t, func(c *Config) { c.Cluster = true })
	f.meets(server("master-1", 3600))
	f.meets(fakeServer{info: "run_id:r\r\nuptime_in_seconds:3600\r\nrole:slave\r\n"})
	f.meets(server("master-2", 3600))
	if err := f.Verdict(f.Latest()); err != nil {
		t.Error(err)
	}
	// Two clients of one cluster are one node, even if they met different masters.
	other := newFixture(t, func(c *Config) { c.Cluster, c.Servers = true, f.Servers })
	other.meets(server("master-3", 3600))
	other.meets(server("master-1", 3600))
	if err := other.Verdict(other.Latest()); !errors.Is(err, driver.ErrDuplicate) {
		t.Errorf("%v, want %v", err, driver.ErrDuplicate)
	}
}

func TestARestartedServerMayTakeItsNodesPlace(t *testing.T) {
	servers := NewServers()
	one, two := &claimant{node: "n"}, &claimant{node: "n"}
	for _, runID := range []string{"a", "b"} {
		if other, taken := servers.claim(runID, one); taken {
			t.Fatal(other)
		}
	}
	if other, taken := servers.claim("a", two); taken {
		t.Errorf("%s still claims a run id it no longer has", other)
	}
}

func TestAFindingIsProbedAfresh(t *testing.T) {
	f := newFixture(t)
	f.meets(fakeServer{info: "run_id:a\r\nrole:slave\r\n"})
	master := server("a", 3600)
	if err := f.Admit(t.Context(), master); !errors.Is(err, driver.ErrReplica) {
		t.Errorf("%v, want what was just found", err)
	}
	f.clock.now += 2 * reexamineAfter
	if err := f.Admit(t.Context(), fakeServer{err: errors.New("no answer")}); !errors.Is(err, driver.ErrReplica) {
		t.Errorf("%v, want what is known", err)
	}
	f.clock.now += 2 * reexamineAfter
	if err := f.Admit(t.Context(), master); err != nil {
		t.Errorf("still silent: %v", err)
	}
}
