package registry

import (
	"time"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/internal/holders"
	"github.com/lockscope/lockscope/scanner/report"
)

// Entry is a finding with the scanner's private facts about it.
type Entry struct {
	report.Finding
	Facts
	noted bool // a page of the sweep under way has shown it
}

// sealed keeps facts from callers, who cannot open it.
type sealed struct{ facts Facts }

// EntryOf opens a finding. A finding that the scanner did not make has no facts.
func EntryOf(f *report.Finding) Entry {
	e := Entry{Finding: *f}
	if s, ok := f.Seen.(*sealed); ok {
		e.Facts = s.facts
	}
	return e
}

// Sealed returns the entry in the form for callers. A repair compares with what was seen, not with what they claim.
func (e *Entry) Sealed() report.Finding {
	f := e.Finding
	f.Seen = &sealed{e.Facts}
	return f
}

// Facts are what was seen of a finding's lock.
type Facts struct {
	Source   string    // whose node it is on; a key of a cluster may move to another node
	Since    time.Time // held too long: since when at least
	Identity string    // of the value, for the second look and for repairs; never shown
	Distinct bool      // the identity tells this holder from another one; see Doubt
	Doubt    string    // why it does not
	Kept     bool      // its holder may have the same value again for its next lease
	Until    int64     // of such a value in a plan: until when nobody wrote the key, by the server's lru_clock
	Recalled Recalled  // in place of Identity, until it is seen again
}

// Recalled replaces the identity of the value in a finding of an earlier process.
type Recalled struct {
	Digest holders.Digest
	Value  string
}

// Same reports whether a value is that of the finding.
func (f *Facts) Same(identity string) bool {
	if f.Identity == "" {
		return f.Recalled.Value != "" && f.Recalled.Digest.Text(identity) == f.Recalled.Value
	}
	return f.Identity == identity
}

// id has no node, because a key of a cluster stays the same key when it moves.
type id struct {
	source string
	place  string // of other systems than Redis
	key    string
	class  inspect.Class
}

func idOf(e *Entry) id { return id{e.Source, e.Place, e.Key, e.Class} }
