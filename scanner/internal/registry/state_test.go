package registry

import (
	"testing"
	"time"

	"github.com/lockscope/lockscope/scanner/internal/holders"
)

// TestAgesOfAWriterWhoseClockIsAhead: what it had seen a minute before it saved is a minute old, and not of the future.
func TestAgesOfAWriterWhoseClockIsAhead(t *testing.T) {
	now := time.Unix(1795697208, 0)
	saved := now.Add(time.Hour)
	text, err := Encode(State{
		Digest: holders.Salted([]byte("salt")), Entries: []Entry{leak("lock:1", "x", saved.Add(-time.Minute))},
	}, saved)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Decode(text, now)
	if err != nil {
		t.Fatal(err)
	}
	if f := s.Entries[0]; now.Sub(f.FirstSeen) != time.Minute || now.Sub(f.LastSeen) != time.Minute {
		t.Errorf("seen %v and %v ago", now.Sub(f.FirstSeen), now.Sub(f.LastSeen))
	}
}

// TestStateNamesThePolicy: the alert of a finding that is resolved after a restart ends by the labels it began with.
func TestStateNamesThePolicy(t *testing.T) {
	now := time.Unix(1795697208, 0)
	f := leak("lock:1", "x", now)
	f.Policy, f.Team = "orders", "shop"
	text, err := Encode(State{Digest: holders.Salted([]byte("salt")), Entries: []Entry{f}}, now)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Decode(text, now)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Entries[0]; got.Policy != "orders" || got.Team != "shop" {
		t.Errorf("%q of %q", got.Policy, got.Team)
	}
}
