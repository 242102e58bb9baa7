package guard

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/internal/memstate"
)

// actServer is a server in memory on which acts are carried out.
type actServer struct {
	runID, marker, used string
	stats               string // more of INFO
	down                error
	cut                 error // fails rounds; reads still work
	cuts                int   // so many rounds fail
	now                 int64 // microseconds
	beforeMark          func(*actServer)
	afterMark           func(*actServer)
}

func (s *actServer) Info(context.Context) (string, error) {
	return "run_id:" + s.runID + "\r\nrole:master\r\n" + s.stats, s.down
}
func (s *actServer) Marker(context.Context) (string, error) { return s.marker, s.down }
func (s *actServer) Used(context.Context) (string, error)   { return s.used, s.down }

// act runs the Go twin of a script.
func (s *actServer) act(do func(*memstate.Instant)) error {
	if err := errors.Join(s.down, s.cut); err != nil {
		return err
	}
	if s.cuts > 0 {
		s.cuts--
		return errDown
	}
	state := memstate.New()
	state.Marker = s.marker
	do(&memstate.Instant{State: state, NowUS: s.now})
	s.marker = state.Marker
	return nil
}

func (s *actServer) Mark(_ context.Context, m Mark) (code int, marker string, err error) {
	if s.beforeMark != nil {
		s.beforeMark(s)
	}
	err = s.act(func(i *memstate.Instant) {
		code, marker = i.Mark(memstate.Marked{
			State: string(m.State), Fingerprint: string(m.Fingerprint), RunID: m.RunID, DB: fmt.Sprint(m.DB),
			Nonce: m.Nonce, LengthMS: m.Length.Milliseconds(), Read: m.Read, From: string(m.From),
		})
	})
	if err == nil && s.afterMark != nil {
		s.afterMark(s)
	}
	return code, marker, err
}

func (s *actServer) Replace(_ context.Context, prefix, marker string) (done bool, err error) {
	err = s.act(func(i *memstate.Instant) { done = i.Replace(prefix, marker) })
	return done, err
}

// newActServers returns n of them as members of a set.
func newActServers(n int) (servers []*actServer, members Members) {
	for i := range n {
		s := &actServer{runID: fmt.Sprint("run", i), now: 1e15}
		servers, members = append(servers, s), append(members, &Member{Name: fmt.Sprint("n", i), Conn: s})
	}
	return servers, members
}

func wrapName(node string, err error) error { return fmt.Errorf("%s: %w", node, err) }

var errDown = errors.New("connection refused")

func TestAVouchNeedsAllNodes(t *testing.T) {
	servers, members := newActServers(3)
	servers[2].down = errDown
	vouch := func() error {
		return (&Vouch{Members: members, Fingerprint: ours, Length: time.Minute, Wrap: wrapName}).Run(t.Context())
	}
	if err := vouch(); !errors.Is(err, errDown) {
		t.Errorf("with one of three down: %v", err)
	}
	for i, s := range servers {
		if s.marker != "" {
			t.Errorf("node %d was marked: %q", i, s.marker)
		}
	}
	servers[2].down = nil
	if err := vouch(); err != nil {
		t.Fatal(err)
	}
	for i, s := range servers {
		if s.marker != votingMarker(ours, s.runID, 0) {
			t.Errorf("node %d has %q", i, s.marker)
		}
	}
}

// TestAVouchAsksWhatAServerSaysOfItself: keys are not all that use leaves behind. A person can overrule it, by name.
func TestAVouchAsksWhatAServerSaysOfItself(t *testing.T) {
	quarantined := "quarantine" + strings.TrimPrefix(votingMarker(ours, "run2", 0), string(Voting))
	for name, c := range map[string]struct {
		stats, marker string
		others        bool // they vote already
		says          string
	}{
		"new, and asked by a doctor": {stats: "expired_keys:0\r\ncmdstat_ping:calls=7\r\n" +
			"cmdstat_evalsha:calls=2,usec=9,rejected_calls=0,failed_calls=2\r\n"},
		"new, and a service was refused": {stats: "cmdstat_evalsha:calls=2,failed_calls=0\r\n",
			marker: quarantined + "|new-q.1|60000|1|1"},
		"an earlier vouch was cut short": {marker: quarantined + "|vouch-q.1|60000|0|0", others: true},
		"FLUSHALL":                       {stats: "cmdstat_flushall:calls=1,usec=9,rejected_calls=0,failed_calls=0\r\n", says: "FLUSHALL"},
		"FLUSHDB, and a service was refused": {stats: "cmdstat_flushdb:calls=1\r\n",
			marker: quarantined + "|new-q.1|60000|1|1", says: "FLUSHALL or FLUSHDB"},
		"expired keys":             {stats: "expired_keys:3\r\n", says: "expired_keys is 3"},
		"scripts without a marker": {stats: "cmdstat_evalsha:calls=3,failed_calls=1\r\n", says: "scripts"},
		"restarted without data":   {others: true, says: "other nodes are in use"},
		"restarted, in its quarantine": {marker: quarantined + "|q.1|60000|1|1", others: true,
			says: "other nodes are in use"},
	} {
		t.Run(name, func(t *testing.T) {
			servers, members := newActServers(3)
			for _, s := range servers[:2] {
				if c.others {
					s.marker = votingMarker(ours, s.runID, 0)
				}
			}
			servers[2].stats, servers[2].marker = c.stats, c.marker
			v := &Vouch{Members: members, Fingerprint: ours, Length: time.Minute, Wrap: wrapName}
			err := v.Run(t.Context())
			if (err != nil) != (c.says != "") || err != nil && (!errors.Is(err, ErrNotNew) ||
				!strings.Contains(err.Error(), c.says) || servers[2].marker != c.marker || !strings.HasPrefix(err.Error(), "n2: ")) {
				t.Errorf("%v, and the server has %q", err, servers[2].marker)
			}
			v.New = []string{"n2"}
			if err := v.Run(t.Context()); err != nil {
				t.Errorf("stated by name: %v", err)
			}
		})
	}
}

// TestAVouchThatEndedNodesLeavesItsMarks: with them, another one goes on where this one stopped.
func TestAVouchThatEndedNodesLeavesItsMarks(t *testing.T) {
	servers, members := newActServers(3)
	servers[2].afterMark = func(s *actServer) { s.cuts = 1 }
	vouch := func() error {
		return (&Vouch{Members: members, Fingerprint: ours, Length: time.Minute, Wrap: wrapName, Nonce: "one"}).Run(t.Context())
	}
	if err := vouch(); !errors.Is(err, errDown) || !strings.Contains(servers[2].marker, "|vouch-one.") {
		t.Errorf("%v, and the server has %q", err, servers[2].marker)
	}
	servers[2].afterMark = nil
	if err := vouch(); err != nil {
		t.Error(err)
	}
}

// TestAVouchEndsItsOwnQuarantineOnly: between its rounds a server has lost its data and begun another quarantine, which
// this act has not read.
func TestAVouchEndsItsOwnQuarantineOnly(t *testing.T) {
	servers, members := newActServers(3)
	another := "quarantine" + strings.TrimPrefix(votingMarker(ours, "run2", 0), string(Voting)) + "|nonce.2|60000|1|1"
	servers[2].afterMark = func(s *actServer) { s.marker = another }
	err := (&Vouch{Members: members, Fingerprint: ours, Length: time.Minute, Wrap: wrapName}).Run(t.Context())
	if !errors.Is(err, ErrNotNew) || servers[2].marker != another {
		t.Errorf("%v, and the server has %q", err, servers[2].marker)
	}
}

// TestAVouchForARestartedNodeIsGoodOnce: it counts for the quarantine that it names.
func TestAVouchForARestartedNodeIsGoodOnce(t *testing.T) {
	servers, members := newActServers(1)
	silent := "quarantine" + strings.TrimPrefix(votingMarker(ours, "run0", 0), string(Voting)) + "|q.1|60000|1|1"
	servers[0].marker = silent
	vouch := func(runID, identity string) error {
		return (&VouchRestarted{Member: members[0], Fingerprint: ours, RunID: runID, Identity: identity,
			Wrap: wrapName}).Run(t.Context())
	}
	for _, wrong := range [][2]string{{"run1", "q.1"}, {"run0", "q.2"}, {"run0", "q"}} {
		if err := vouch(wrong[0], wrong[1]); !errors.Is(err, ErrNotNew) || servers[0].marker != silent {
			t.Errorf("%v: %v, and the server has %q", wrong, err, servers[0].marker)
		}
	}
	if err := vouch("run0", "q.1"); err != nil || servers[0].marker != votingMarker(ours, "run0", 0) {
		t.Errorf("%v, and the server has %q", err, servers[0].marker)
	}
	servers[0].marker = strings.Replace(silent, "q.1", "q.2", 1) // after a flush
	if err := vouch("run0", "q.1"); !errors.Is(err, ErrNotNew) {
		t.Errorf("the same words again: %v", err)
	}
}

// TestNoVouchEndsTheQuarantineOfAChange: leases that the old nodes granted can be valid, whatever these nodes remember.
func TestNoVouchEndsTheQuarantineOfAChange(t *testing.T) {
	for _, marked := range []int{3, 2} { // the third is new, or votes already
		for _, voting := range []bool{false, true} {
			servers, members := newActServers(3)
			for i, s := range servers {
				switch whose := strings.TrimPrefix(votingMarker(ours, s.runID, 0), string(Voting)); {
				case i >= 3-marked:
					s.marker = string(Quarantined) + whose + "|change-X.1|61000|0|0"
				case voting:
					s.marker = votingMarker(ours, s.runID, 0)
				}
			}
			before := []string{servers[0].marker, servers[1].marker, servers[2].marker}
			unharmed := func(what string, err error) {
				t.Helper()
				if !errors.Is(err, ErrNotNew) || !strings.Contains(err.Error(), "a change of the configuration began") {
					t.Errorf("%s, %d of a change: %v", what, marked, err)
				}
				for i, s := range servers {
					if s.marker != before[i] {
						t.Errorf("%s, %d of a change: %q was %q", what, marked, s.marker, before[i])
					}
				}
			}
			v := &Vouch{Members: members, Fingerprint: ours, Length: time.Minute, Wrap: wrapName}
			unharmed("vouch", v.Run(t.Context()))
			v.New = []string{"n0", "n1", "n2"}
			unharmed("vouch by name", v.Run(t.Context()))
			unharmed("vouch for one that restarted", (&VouchRestarted{Member: members[2], Fingerprint: ours, RunID: "run2",
				Identity: "change-X.1", Wrap: wrapName}).Run(t.Context()))
		}
	}
}
