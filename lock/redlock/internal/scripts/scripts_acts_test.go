package scripts

import (
	"strings"
	"testing"

	"github.com/lockscope/lockscope/lock/redlock/guard"
)

const mineMarker = "|ours|run1|0"

// member returns the connection of an act.
func (s *scripted) member() Member {
	conn := s.client.Conn()
	s.t.Cleanup(func() { _ = conn.Close() })
	return NewMember(conn)
}

// act runs the first round of an act with this nonce, on the marker that it has read.
func (s *scripted) act(state guard.State, nonce, read string) (code int, marker string) {
	s.t.Helper()
	code, marker, err := s.member().Mark(s.t.Context(), guard.Mark{
		State: state, Fingerprint: "ours", RunID: "run1", Nonce: nonce, Length: shortLength, Read: read,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	if stored := s.get(guard.MarkerKey); stored != marker {
		s.t.Errorf("it says %q, and has %q", marker, stored)
	}
	return code, marker
}

func (s *scripted) replace(prefix, marker string) bool {
	s.t.Helper()
	replaced, err := s.member().Replace(s.t.Context(), prefix, marker)
	if err != nil {
		s.t.Fatal(err)
	}
	return replaced
}

// TestScriptsChangeWhatWasRead: if the marker has changed since it was read, the change is refused and has no effect.
func TestScriptsChangeWhatWasRead(t *testing.T) {
	s := newScripted(t)
	for _, there := range []string{"", "voting|ours|run1|0", "voting|theirs|run1|0",
		"changing|theirs|run1|0|change-1.1|30|0|0"} {
		for _, read := range []string{"", "voting|ours|run1|0", "voting|theirs|run1|0", "voting|ours|run1|01"} {
			if s.set(guard.MarkerKey, there); there == "" {
				s.client.Del(t.Context(), guard.MarkerKey)
			}
			code, marker := s.act(guard.Changing, "change-2", read)
			switch begun := strings.HasPrefix(marker, "changing"+mineMarker+"|change-2."); {
			case there == read && (code != guard.Marked || !begun):
				t.Errorf("%q, as it was read: %d, %q", there, code, marker)
			case there != read && (code != guard.MarkRefused || marker != there):
				t.Errorf("%q, read as %q: %d, %q", there, read, code, marker)
			}
		}
	}
}

// TestScriptsLeaveAChangeAloneThatIsUnderWay: another change has to wait for a long time. A second call of the same
// change does not.
func TestScriptsLeaveAChangeAloneThatIsUnderWay(t *testing.T) {
	s := newScripted(t)
	code, begun := s.act(guard.Changing, "change-1", "")
	if code != guard.Marked {
		t.Fatal(code)
	}
	if code, marker := s.act(guard.Changing, "change-2", begun); code != guard.MarkRefused || marker != begun {
		t.Errorf("another one: %d, %q", code, marker)
	}
	if code, _ := s.act(guard.Changing, "change-1", begun); code != guard.Marked {
		t.Errorf("the same: %d", code)
	}
	// long ago, by a clock that was corrected since, and over
	for _, old := range []string{"change-1.1", "change-1.99999999999999999", "left-1.1"} {
		there := "changing|ours|run1|0|" + old + "|30|0|0|theirs"
		s.set(guard.MarkerKey, there)
		if code, _ := s.act(guard.Changing, "change-2", there); code != guard.Marked {
			t.Errorf("%s: %d", old, code)
		}
	}
}

// TestScriptsVouchOnce at a time, only for a node that does not vote yet, and for no server of another set.
func TestScriptsVouchOnce(t *testing.T) {
	s := newScripted(t)
	vouch := func(nonce string, want int) string {
		t.Helper()
		before := s.get(guard.MarkerKey)
		code, marker := s.act(guard.Quarantined, nonce, "")
		if code != want || (code != guard.Marked) != (marker == before) {
			t.Errorf("%s of %q: %d, %q; want %d", nonce, before, code, marker, want)
		}
		return marker
	}
	first := vouch("vouch-1", guard.Marked)
	if again := vouch("vouch-1", guard.Marked); again == first {
		t.Error("two calls of one act leave the same marker: one that comes late would mark again")
	}
	vouch("vouch-2", guard.MarkRefused)
	s.set(guard.MarkerKey, "quarantine"+mineMarker+"|vouch-1.1|30|0|0")
	vouch("vouch-2", guard.Marked) // that one was cut off long ago
	s.set(guard.MarkerKey, "voting"+mineMarker)
	vouch("vouch-2", guard.MarkVotes)
	for _, other := range []string{
		"voting|theirs|run1|0", "quarantine|ours|run2|0|q.1|30|0|0", "changing" + mineMarker + "|change-1.1|30|0|0",
		"quarantine" + mineMarker + "|change-1.1|30|0|0", // leases of the old nodes may be valid
	} {
		s.set(guard.MarkerKey, other)
		vouch("vouch-2", guard.MarkRefused)
	}
}

// TestScriptsReplaceTheirOwnMarker only, and answer the same if the reply was lost.
func TestScriptsReplaceTheirOwnMarker(t *testing.T) {
	s := newScripted(t)
	_, marked := s.act(guard.Quarantined, "vouch-1", "")
	own := marked[:strings.LastIndex(strings.TrimSuffix(marked, "|0|0"), "|")+1]
	voting := "voting" + mineMarker
	if s.replace("quarantine"+mineMarker+"|vouch-2.", voting) || s.get(guard.MarkerKey) != marked {
		t.Errorf("another's marker is replaced by %q", s.get(guard.MarkerKey))
	}
	for range 2 {
		if !s.replace(own, voting) || s.get(guard.MarkerKey) != voting {
			t.Errorf("its own: the marker is %q", s.get(guard.MarkerKey))
		}
	}
	if !s.replace("voting|", "") || s.client.Exists(t.Context(), guard.MarkerKey).Val() != 0 {
		t.Errorf("what is removed is still there: %q", s.get(guard.MarkerKey))
	}
	if s.replace("voting|", voting) || s.get(guard.MarkerKey) != "" {
		t.Error("a marker is written where none is")
	}
}
