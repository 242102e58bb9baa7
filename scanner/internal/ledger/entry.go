package ledger

import (
	"github.com/lockscope/lockscope/scanner/internal/sight"
	"github.com/lockscope/lockscope/scanner/report"
)

// Entry is a finding with what the scanner knows of it besides.
type Entry struct {
	report.Finding
	sight.Facts
	noted bool // a page of the sweep under way has shown it
}

// EntryOf opens a finding. Of one that the scanner did not make there are no facts.
func EntryOf(f *report.Finding) Entry { return Entry{Finding: *f, Facts: sight.Open(f.Seen)} }

// Sealed is the entry as callers have it.
func (e *Entry) Sealed() report.Finding {
	f := e.Finding
	f.Seen = sight.Seal(e.Facts)
	return f
}

// id has no node: a key of a cluster is the same one when it has moved.
type id struct {
	source string
	key    string
	class  report.Class
}

func idOf(e *Entry) id { return id{e.Source, e.Key, e.Class} }
