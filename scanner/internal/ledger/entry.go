package ledger

import (
	"github.com/lockscope/lockscope/scanner/internal/sight"
	"github.com/lockscope/lockscope/scanner/report"
)

// Entry is a finding with the scanner's private facts about it.
type Entry struct {
	report.Finding
	sight.Facts
	noted bool // a page of the sweep under way has shown it
}

// EntryOf opens a finding. A finding that the scanner did not make has no facts.
func EntryOf(f *report.Finding) Entry { return Entry{Finding: *f, Facts: sight.Open(f.Seen)} }

// Sealed returns the entry in the form for callers.
func (e *Entry) Sealed() report.Finding {
	f := e.Finding
	f.Seen = sight.Seal(e.Facts)
	return f
}

// id has no node, because a key of a cluster stays the same key when it moves.
type id struct {
	source string
	place  string // of other systems than Redis
	key    string
	class  report.Class
}

func idOf(e *Entry) id { return id{e.Source, e.Place, e.Key, e.Class} }
