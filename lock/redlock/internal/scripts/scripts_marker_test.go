package scripts

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

const (
	ourMarker   = "voting|ours|run1|0"
	shortLength = 30 * time.Millisecond
)

// asking is a call of quarantine.lua by a process whose clock shows this time.
type asking struct {
	fingerprint, runID string
	db                 int
	clock              time.Time
	length             time.Duration
	known              string
}

func (s *scripted) ask(a asking) guard.Answer {
	s.t.Helper()
	args := []any{nil, nil, 1, guard.MarkerKey, a.fingerprint, a.runID, a.db, a.clock.UnixMilli(),
		a.length.Milliseconds(), "nonce", a.known}
	val, err := s.run(s.scripts.quarantine, args)
	if err != nil {
		s.t.Fatal(err)
	}
	answer, err := parseQuarantine(val)
	if err != nil {
		s.t.Fatal(err)
	}
	if stored := s.get(guard.MarkerKey); stored != answer.Marker {
		s.t.Errorf("it says %q, and has %q", answer.Marker, stored)
	}
	return answer
}

// TestScriptsVoteForTheirMarker only: of this process, this database and this configuration. An extend checks the
// configuration alone, because a lease survives a restart. But a lost key is restored only where the next round may
// count it.
func TestScriptsVoteForTheirMarker(t *testing.T) {
	s := newScripted(t)
	mine := token("a")
	for _, marker := range []string{"", "voting|ours|run2|0", "voting|theirs|run1|0", "voting|ours|run1|1",
		"quarantine|ours|run1|0|q.1|1|0|0", "voting"} {
		s.set(guard.MarkerKey, marker)
		if reply, err := s.acquire(driver.AcquireRequest{Token: mine}, ourMarker); err == nil || reply.Granted ||
			s.get(s.keys.lock) != "" {
			t.Errorf("marker %q: %+v, %v", marker, reply, err)
		}
	}
	s.set(guard.MarkerKey, ourMarker)
	if reply, err := s.acquire(driver.AcquireRequest{Token: mine}, ourMarker); err != nil || !reply.Granted {
		t.Fatalf("its own marker: %+v, %v", reply, err)
	}
	s.set(guard.MarkerKey, "voting|ours|run2|0")
	if reply, err := s.extend(driver.ExtendRequest{Token: mine, Refill: true, Fence: 1}, "ours"); err != nil ||
		reply != driver.ExtendDone {
		t.Errorf("after a restart: %v, %v", reply, err)
	}
	s.client.Del(t.Context(), s.keys.lock)
	for _, marker := range []string{"", "voting|ours|run2|0", "voting|ours|run1|1",
		"quarantine|ours|run1|0|q.1|1|0|0"} {
		s.set(guard.MarkerKey, marker)
		if reply, err := s.extend(driver.ExtendRequest{Token: mine, Refill: true, Fence: 1}, "ours"); err != nil ||
			reply != driver.ExtendGone || s.get(s.keys.lock) != "" {
			t.Errorf("a refill with marker %q: %v, %v", marker, reply, err)
		}
	}
	s.set(guard.MarkerKey, ourMarker)
	if reply, err := s.extend(driver.ExtendRequest{Token: mine, Refill: true, Fence: 1}, "ours"); err != nil ||
		reply != driver.ExtendRefilled {
		t.Errorf("a refill with its own marker: %v, %v", reply, err)
	}
	s.set(guard.MarkerKey, "voting|theirs|run1|0")
	if reply, err := s.extend(driver.ExtendRequest{Token: mine, Refill: true, Fence: 1}, "ours"); err == nil {
		t.Errorf("an extend for another configuration: %v", reply)
	}
	s.client.Del(t.Context(), s.keys.lock)
	if reply, err := s.extend(driver.ExtendRequest{Token: mine, Refill: true, Fence: 1}, "ours"); err == nil ||
		s.get(s.keys.lock) != "" {
		t.Errorf("a refill for another configuration: %v", reply)
	}
}

// TestScriptsRefuseACallerOfFewerNodes: one that expects no marker passes its own set. Only a server that counts for
// another set of three or more refuses it, whatever process its marker is of.
func TestScriptsRefuseACallerOfFewerNodes(t *testing.T) {
	s := newScripted(t)
	const alone, large = "1:60000:aa", "3:60000:bb"
	for marker, refuses := range map[string]bool{
		"":                            false,
		"voting|" + alone + "|run1|0": false,
		"voting|1:60000:cc|run1|0":    false,
		"voting|2:60000:cc|run1|0":    false,
		"quarantine|" + alone + "|before|0|change-q.1|60602|0|0": true,
		"quarantine|" + alone + "|run1|0|new-q.1|60602|0|0":      false,
		"voting|" + large:                                                      false, // no marker
		"voting|" + large + "|run1|0":                                          true,
		"voting|" + large + "|before|1":                                        true,
		"quarantine|" + large + "|run1|0|new-q.1|60602|0|0":                    true,
		"changing|" + large + "|run1|0|change-q.1|60602|0|0|2:60000:cc":        true,
		"changing|" + alone + "|run1|0|change-q.1|60602|0|0|" + large:          true,
		"changing|" + alone + "|run1|0|change-q.1|60602|0|0|2:60000:cc":        false,
		"changing|" + large + "|run1|0|left-q.1|60602|0|0|" + large[:8] + "dd": false,
		"voting|" + large[:1] + "0" + large[1:] + "|run1|0":                    true, // thirty
	} {
		s.client.FlushAll(t.Context())
		if marker != "" {
			s.set(guard.MarkerKey, marker)
		}
		reply, err := s.acquire(driver.AcquireRequest{Token: token("a")}, alone)
		if refuses != (err != nil) || reply.Granted == refuses {
			t.Errorf("%q: %+v, %v", marker, reply, err)
		}
		if got := s.get(guard.MarkerKey); got != marker {
			t.Errorf("%q is %q now", marker, got)
		}
	}
}

// TestScriptsQuarantineEndsByBothClocks, counted from when its identity was read, for the longest time that any process
// asks for.
func TestScriptsQuarantineEndsByBothClocks(t *testing.T) {
	s := newScripted(t)
	start := time.Now()
	a := asking{fingerprint: "ours", runID: "run1", clock: start, length: shortLength}
	silent := func(what string, a asking) guard.Marker {
		t.Helper()
		answer := s.ask(a)
		m, ok := guard.ParseMarker(answer.Marker)
		if answer.Code != guard.AnswerQuarantined || answer.Left <= 0 || !ok || m.State != guard.Quarantined {
			t.Fatalf("%s: %+v", what, answer)
		}
		return m
	}
	begun := silent("no marker", a)
	late := a
	late.clock = start.Add(time.Hour)
	if m := silent("asked by who has not read the identity", late); !m.Caller.IsZero() {
		t.Errorf("its count began with %v", m.Caller)
	}
	a.known, late.known = begun.Identity, begun.Identity
	counted := silent("asked with its identity", a)
	if counted.Identity != begun.Identity || counted.Node.IsZero() ||
		counted.Caller.Before(start.Truncate(time.Millisecond)) {
		t.Errorf("its count: %+v", counted)
	}
	long := late
	long.length = time.Hour / 2
	silent("by the callers' clock alone", long)
	// The node's own clock goes on.
	for counted.Node.Add(2 * shortLength).After(s.client.Time(t.Context()).Val()) {
		time.Sleep(shortLength / 10)
	}
	silent("by the node's clock alone", a)
	silent("for as long as who has a longer MaxTTL wants", long)
	stranger := late
	stranger.known = "another"
	silent("by who knows another quarantine", stranger)
	if answer := s.ask(late); answer.Code != guard.AnswerVotes || answer.Marker != ourMarker {
		t.Errorf("by both clocks: %+v", answer)
	}
	for what, change := range map[string]func(*asking){
		"another process":  func(a *asking) { a.runID = "run2" },
		"another database": func(a *asking) { a.db = 1 },
	} {
		s.set(guard.MarkerKey, ourMarker)
		other := late
		change(&other)
		if m := silent(what, other); !m.Caller.IsZero() || m.Identity == begun.Identity {
			t.Errorf("%s goes on with %+v", what, m)
		}
	}
	s.set(guard.MarkerKey, "voting|theirs|run2|0")
	if answer := s.ask(late); answer.Code != guard.AnswerOther || answer.Marker != "voting|theirs|run2|0" {
		t.Errorf("of another configuration, also of before a restart: %+v", answer)
	}
	for _, process := range []string{"run1", "before the restart"} {
		s.set(guard.MarkerKey, "changing|ours|"+process+"|0|q.1|30|0|0|theirs")
		if answer := s.ask(late); answer.Code != guard.AnswerChanging {
			t.Errorf("in an unfinished change, %s: %+v", process, answer)
		}
	}
}

// TestScriptsQuarantineBeginsAnewWhereAClockWentBack: the time so far may have been counted by a clock that was ahead.
func TestScriptsQuarantineBeginsAnewWhereAClockWentBack(t *testing.T) {
	s := newScripted(t)
	now := time.Now()
	for what, began := range map[string]struct{ node, caller time.Duration }{
		"the node's":   {time.Hour, -2 * time.Hour},
		"the callers'": {-2 * time.Hour, time.Hour},
	} {
		s.set(guard.MarkerKey, fmt.Sprintf("quarantine|ours|run1|0|q.1|30|%d|%d", now.Add(began.node).UnixMilli(),
			now.Add(began.caller).UnixMilli()))
		answer := s.ask(asking{fingerprint: "ours", runID: "run1", clock: now, length: shortLength, known: "q.1"})
		m, ok := guard.ParseMarker(answer.Marker)
		if answer.Code != guard.AnswerQuarantined || !ok || m.Identity != "q.1" ||
			m.Caller.Sub(now).Abs() > time.Minute || m.Node.Sub(now).Abs() > time.Minute {
			t.Errorf("%s: %+v", what, answer)
		}
	}
}

// TestScriptsQuarantineBeginsAnewAfterARestart: the time so far was counted for what the node forgot before.
func TestScriptsQuarantineBeginsAnewAfterARestart(t *testing.T) {
	s := newScripted(t)
	now, long := time.Now(), time.Now().Add(-time.Hour).UnixMilli()
	for what, whose := range map[string]string{"another process": "run0|0", "another database": "run1|1"} {
		s.set(guard.MarkerKey, fmt.Sprintf("quarantine|ours|%s|q.1|30|%d|%d", whose, long, long))
		answer := s.ask(asking{fingerprint: "ours", runID: "run1", clock: now, length: shortLength, known: "q.1"})
		if m, _ := guard.ParseMarker(answer.Marker); answer.Code != guard.AnswerQuarantined || m.Identity == "q.1" ||
			m.RunID != "run1" {
			t.Errorf("%s: %+v", what, answer)
		}
	}
}

// TestScriptsQuarantineOfAChangeOutlivesARestart: leases that the old nodes granted can be valid, for the longer of both
// MaxTTLs. It begins anew with its kind and its length.
func TestScriptsQuarantineOfAChangeOutlivesARestart(t *testing.T) {
	s := newScripted(t)
	a := asking{fingerprint: "ours", runID: "run1", clock: time.Now(), length: shortLength}
	for identity, length := range map[string]time.Duration{
		"change-q.1": time.Hour, "change-q.2": shortLength / 2, "q.1": time.Hour,
	} {
		s.set(guard.MarkerKey, fmt.Sprintf("quarantine|ours|before|0|%s|%d|1|1", identity, length.Milliseconds()))
		answer := s.ask(a)
		m, _ := guard.ParseMarker(answer.Marker)
		if want := max(length, shortLength); answer.Code != guard.AnswerQuarantined || answer.Left != want ||
			m.Length != want || !m.Node.IsZero() || m.RunID != "run1" || m.Identity == identity ||
			strings.HasPrefix(m.Identity, "change-nonce.") != strings.HasPrefix(identity, "change-") {
			t.Errorf("%s: %+v", identity, answer)
		}
	}
}
