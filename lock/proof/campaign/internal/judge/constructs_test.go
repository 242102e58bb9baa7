//go:build linux

package judge

import (
	"testing"

	"github.com/lockscope/lockscope/lock/proof/campaign/internal/history"
	"github.com/lockscope/lockscope/lock/proof/campaign/internal/worker"
)

// claim is one that is seen valid at from and at to, for a second more each time, and then given back.
func (s *script) claim(w int, what history.Construct, resource, slot string, fence uint64, from, to int64) {
	id := s.begin(w, what, resource, slot, fence, from)
	s.event(w, history.Event{T: to, Kind: history.Claimed, ID: id, Construct: what, Resource: resource, Text: slot,
		Fence: fence, Until: to + second})
	s.event(w, history.Event{T: to + 1, Kind: history.Yielded, ID: id, Outcome: "released"})
}

// begin is a claim whose process is killed before it sees it a second time.
func (s *script) begin(w int, what history.Construct, resource, slot string, fence uint64, from int64) int64 {
	s.ids++
	s.event(w, history.Event{T: from, Kind: history.Claimed, ID: s.ids, Construct: what, Resource: resource, Text: slot,
		Fence: fence, Until: from + second})
	return s.ids
}

// TestConstructs: what is built on locks, in order and not.
func TestConstructs(t *testing.T) {
	const term, permit, set = history.Term, history.Permit, history.Set
	const writer, reader = history.WriteLock, history.ReadLock
	for name, c := range map[string]struct {
		tell func(s *script)
		want string // the judge that finds something
	}{
		"two terms at once": {func(s *script) {
			s.claim(0, term, "leader", "", 1, 10, 20)
			s.claim(1, term, "leader", "", 2, 15, 25)
		}, Elections},
		"one after the other": {func(s *script) {
			s.claim(0, term, "leader", "", 1, 10, 20)
			s.claim(1, term, "leader", "", 2, 20, 30)
		}, ""},
		"a term that goes back": {func(s *script) {
			s.claim(0, term, "leader", "", 2, 10, 20)
			s.claim(1, term, "leader", "", 1, 30, 40)
		}, Elections},
		"a term beside that of a killed process": {func(s *script) {
			s.begin(0, term, "leader", "", 1, 10)
			s.claim(1, term, "leader", "", 2, second, second+20)
		}, Elections},
		"a term when that has expired": {func(s *script) {
			s.begin(0, term, "leader", "", 1, 10)
			s.claim(1, term, "leader", "", 2, second+10, second+20)
		}, ""},
		"a term that nobody resigns": {func(s *script) {
			s.claim(0, term, "leader", "", 1, 10, 20)
			s.claim(1, permit, "pool", "1", 1, 11*60*second, 11*60*second+10)
		}, Elections},
		"k permits": {func(s *script) {
			for slot := range worker.Permits {
				s.claim(slot%2, permit, "pool", string(rune('0'+slot)), 1, int64(10+slot), 20)
			}
		}, ""},
		"k+1 permits": {func(s *script) {
			for slot := range worker.Permits + 1 {
				s.claim(slot%2, permit, "pool", string(rune('0'+slot)), 1, int64(10+slot), 20)
			}
		}, Permits},
		"one slot twice": {func(s *script) {
			s.claim(0, permit, "pool", "1", 1, 10, 20)
			s.claim(1, permit, "pool", "1", 2, 15, 25)
		}, Permits},
		"a slot whose fences go back": {func(s *script) {
			s.claim(0, permit, "pool", "1", 2, 10, 20)
			s.claim(1, permit, "pool", "1", 2, 30, 40)
		}, Permits},
		"readers together": {func(s *script) {
			s.claim(0, writer, "table", "", 4, 1, 5)
			s.claim(0, reader, "table", "", 4, 10, 20)
			s.claim(1, reader, "table", "", 4, 12, 18)
			s.claim(1, writer, "table", "", 5, 21, 25)
		}, ""},
		"a writer beside a reader": {func(s *script) {
			s.claim(0, reader, "table", "", 4, 10, 20)
			s.claim(1, reader, "table", "", 4, 12, 14)
			s.claim(1, writer, "table", "", 5, 19, 25)
		}, ReadWrite},
		"a reader beside a writer": {func(s *script) {
			s.claim(0, writer, "table", "", 4, 10, 20)
			s.claim(1, reader, "table", "", 4, 19, 25)
		}, ReadWrite},
		"two writers": {func(s *script) {
			s.claim(0, writer, "table", "", 4, 10, 20)
			s.claim(1, writer, "table", "", 5, 19, 25)
		}, ReadWrite},
		"a reader with a fence from before a writer": {func(s *script) {
			s.claim(0, writer, "table", "", 4, 10, 20)
			s.claim(1, reader, "table", "", 3, 21, 25)
		}, ReadWrite},
		"sets with a member in common": {func(s *script) {
			s.claim(0, set, "a,b", "", 0, 10, 20)
			s.claim(1, set, "b,c", "", 0, 15, 25)
		}, Sets},
		"sets without": {func(s *script) {
			s.claim(0, set, "a,b", "", 0, 10, 20)
			s.claim(1, set, "c,d", "", 0, 15, 25)
			s.claim(1, set, "b,d", "", 0, 30, 40)
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript("w1", "w2")
			c.tell(s)
			court := &court{evidence: &s.Evidence}
			court.constructs()
			if c.want == "" && len(court.found) > 0 {
				t.Errorf("found %v", court.found)
			}
			if c.want != "" && (len(court.found) != 1 || court.found[0].Judge != c.want) {
				t.Errorf("found %v, want one of %s", court.found, c.want)
			}
		})
	}
}
