package sweep

import (
	"time"

	"github.com/lockscope/lockscope/scanner/internal/judge"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/node"
	"github.com/lockscope/lockscope/scanner/report"
)

// Settings are common to all sweeps.
type Settings struct {
	Scope        node.Scope
	Group        string // that the report is stamped with
	Rules        judge.Rules
	Deadline     time.Duration
	ConfirmAfter time.Duration         // between the first and the second look
	MaxWatched   int                   // locks per source
	MaxValues    int                   // read per node for their own sake; negative: all
	OneRedlock   bool                  // said of the sources; see package orphan
	Asked        map[report.Class]bool // not only because all classes are the default
	EmptyAllowed bool                  // a pattern without a key is no gap
	Progress     func(report.Progress)
	Now          func() time.Time
}

// pagesUntil is the part of the deadline for pages. The rest is for the second look: without it, a sweep that is
// always cut off would confirm nothing.
func (s *Settings) pagesUntil() time.Duration { return s.Deadline - s.Deadline/10 - s.ConfirmAfter }

// valuesPerPass is how many values a pass reads besides those of findings.
func (s *Settings) valuesPerPass() int {
	if !s.Rules.ReadValues() {
		return 0
	}
	return s.MaxValues
}

// query describes the locks whose TTL is a finding, for the first pattern.
func (s *Settings) query() keyreader.Query {
	pattern := s.Scope.Patterns[0]
	return keyreader.Query{Pattern: pattern, Count: s.Scope.PageSize, Limit: s.Rules.TTLLimitFor(pattern)}
}
