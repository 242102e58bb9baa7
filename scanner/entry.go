package scanner

import (
	"github.com/lockscope/lockscope/scanner/internal/sight"
	"github.com/lockscope/lockscope/scanner/report"
)

// entry is a finding with what the scanner knows of it besides.
type entry struct {
	report.Finding
	sight.Facts
	noted bool // a page of the sweep under way has shown it
}

// entryOf opens a finding.
func entryOf(f *report.Finding) entry { return entry{Finding: *f, Facts: sight.Open(f.Seen)} }

// finding is the entry as callers have it.
func (e *entry) finding() report.Finding {
	f := e.Finding
	f.Seen = sight.Seal(e.Facts)
	return f
}
