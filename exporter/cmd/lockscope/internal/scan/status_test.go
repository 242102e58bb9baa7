package scan

import (
	"errors"
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/report"
)

// TestStatuses: what a report and an error make of the exit status.
func TestStatuses(t *testing.T) {
	p := &plan{failOn: []inspect.Class{inspect.NoTTL, inspect.Orphan}}
	gaps := []inspect.Gap{{Reason: inspect.ReasonNodeFailed}}
	unread := []report.NodeReport{{Node: "r1:6379"}, {Node: "r2:6379", Gaps: gaps}}
	one := func(class inspect.Class) []report.Finding { return []report.Finding{{Class: class}} }
	leak := one(inspect.NoTTL)
	for name, c := range map[string]struct {
		report report.Report
		err    error
		status int
		word   string
	}{
		"nothing":               {report.Report{Nodes: unread[:1]}, nil, ui.ExitClean, wordClean},
		"an orphan":             {report.Report{Findings: one(inspect.Orphan)}, nil, ui.ExitFindings, wordFindings},
		"another class":         {report.Report{Findings: one(inspect.LongTTL)}, nil, ui.ExitClean, wordClean},
		"a node was not read":   {report.Report{Nodes: unread}, nil, ui.ExitIncomplete, wordIncomplete},
		"a leak beside that":    {report.Report{Nodes: unread, Findings: leak}, nil, ui.ExitFindings, wordFindings},
		"a leak, and no answer": {report.Report{Findings: leak}, errors.New("down"), ui.ExitError, wordError},
	} {
		if status, word := p.judge(c.report, c.err); status != c.status || word != c.word {
			t.Errorf("%s: %d %s, want %d %s", name, status, word, c.status, c.word)
		}
	}
}
