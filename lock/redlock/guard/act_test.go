package guard

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// actServer is a server in memory that acts are done to.
type actServer struct {
	runID, marker, used string
	down                error
	afterMark           func(*actServer) // may be nil
}

func (s *actServer) Info(context.Context) (string, error) {
	return "run_id:" + s.runID + "\r\nrole:master\r\n", s.down
}
func (s *actServer) Marker(context.Context) (string, error) { return s.marker, s.down }
func (s *actServer) Used(context.Context) (string, error)   { return s.used, s.down }

// Mark is mark.lua, where nothing stands in the way.
func (s *actServer) Mark(_ context.Context, m Mark) (code int, marker string, err error) {
	if s.down != nil {
		return 0, "", s.down
	}
	marker = fmt.Sprintf("%s|%s|%s|%d|%s.1|%d|0|0", m.State, string(m.Fingerprint), m.RunID, m.DB, m.Nonce, m.Length.Milliseconds())
	s.marker = marker
	if s.afterMark != nil {
		s.afterMark(s)
	}
	return Marked, marker, nil
}

// Replace is replace.lua.
func (s *actServer) Replace(_ context.Context, prefix, marker string) (bool, error) {
	if s.down != nil || !strings.HasPrefix(s.marker, prefix) {
		return false, s.down
	}
	s.marker = marker
	return true, nil
}

// newActServers are n of them, as members of a set.
func newActServers(n int) (servers []*actServer, members Members) {
	for i := range n {
		s := &actServer{runID: fmt.Sprint("run", i)}
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

// TestAVouchEndsItsOwnQuarantineOnly: between its rounds a server has lost its data and begun another, of which nobody knows
// anything.
func TestAVouchEndsItsOwnQuarantineOnly(t *testing.T) {
	servers, members := newActServers(3)
	another := "quarantine" + strings.TrimPrefix(votingMarker(ours, "run2", 0), string(Voting)) + "|nonce.2|60000|1|1"
	servers[2].afterMark = func(s *actServer) { s.marker = another }
	err := (&Vouch{Members: members, Fingerprint: ours, Length: time.Minute, Wrap: wrapName}).Run(t.Context())
	if !errors.Is(err, ErrNotNew) || servers[2].marker != another {
		t.Errorf("%v, and the server has %q", err, servers[2].marker)
	}
}

// TestAVouchForARestartedNodeIsGoodOnce, for the quarantine that it names.
func TestAVouchForARestartedNodeIsGoodOnce(t *testing.T) {
	servers, members := newActServers(1)
	silent := "quarantine" + strings.TrimPrefix(votingMarker(ours, "run0", 0), string(Voting)) + "|q.1|60000|1|1"
	servers[0].marker = silent
	vouch := func(runID, identity string) error {
		return (&VouchRestarted{Member: members[0], Fingerprint: ours, RunID: runID, Identity: identity, Wrap: wrapName}).Run(t.Context())
	}
	for _, wrong := range [][2]string{{"run1", "q.1"}, {"run0", "q.2"}, {"run0", "q"}} {
		if err := vouch(wrong[0], wrong[1]); !errors.Is(err, ErrNotNew) || servers[0].marker != silent {
			t.Errorf("%v: %v, and the server has %q", wrong, err, servers[0].marker)
		}
	}
	if err := vouch("run0", "q.1"); err != nil || servers[0].marker != votingMarker(ours, "run0", 0) {
		t.Errorf("%v, and the server has %q", err, servers[0].marker)
	}
	servers[0].marker = strings.Replace(silent, "q.1", "q.2", 1) // it was flushed
	if err := vouch("run0", "q.1"); !errors.Is(err, ErrNotNew) {
		t.Errorf("the same words again: %v", err)
	}
}

// TestAChangeLeavesNoOldQuorum, and needs every node that joins: one that is away may vote for the old set, or have been in it.
func TestAChangeLeavesNoOldQuorum(t *testing.T) {
	for name, c := range map[string]struct {
		away []int // 0 to 2 are of both sets, 3 and 4 join
		want error
	}{
		"all there":            {nil, nil},
		"an old one away":      {[]int{0}, nil},
		"an old quorum away":   {[]int{0, 1}, ErrNotReached},
		"one that joins away":  {[]int{3}, ErrNotReached},
		"a new quorum is away": {[]int{0, 3, 4}, ErrNotReached},
	} {
		servers, members := newActServers(5)
		for _, s := range servers[:3] {
			s.marker = votingMarker(theirs, s.runID, 0)
		}
		for _, i := range c.away {
			servers[i].down = errDown
		}
		change := Change{From: members[:3], To: members, Old: theirs, New: ours, Length: time.Minute, Wrap: wrapName}
		away, err := change.Run(t.Context())
		if !errors.Is(err, c.want) || err == nil && len(away) != len(c.away) {
			t.Errorf("%s: %v, away %v", name, err, away)
		}
		for i, s := range servers {
			m, _ := ParseMarker(s.marker)
			changed := m.State == Quarantined && m.Fingerprint == ours
			if changed != (err == nil && s.down == nil) {
				t.Errorf("%s: node %d has %q", name, i, s.marker)
			}
		}
	}
}
