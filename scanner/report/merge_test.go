package report_test

import (
	"slices"
	"testing"
	"time"

	"github.com/lockscope/lockscope/scanner/report"
)

// TestMergedReport lasts from the first beginning to the last end, and is a standby's only if all parts are.
func TestMergedReport(t *testing.T) {
	at := func(s int64) time.Time { return time.Unix(1000+s, 0) }
	long := report.Report{Started: at(0), Took: time.Hour, Servers: []string{"b"}}
	short := report.Report{Started: at(5), Took: time.Second, Unelected: true, Overflow: 2, Servers: []string{"a"}}
	if r := report.Merge(long, short); !r.Started.Equal(at(0)) || r.Took != time.Hour || r.Standby || !r.Unelected ||
		r.Overflow != 2 || !slices.Equal(r.Servers, []string{"a", "b"}) {
		t.Errorf("two sweeps: %+v", r)
	}
	many := report.Report{Silent: make([]report.Silent, report.MaxSilent), Silents: 30}
	one := report.Report{Silent: []report.Silent{{LastSeen: at(9)}}, Silents: 1}
	if r := report.Merge(many, one); r.Silents != 31 || len(r.Silent) != report.MaxSilent || r.Silent[0].LastSeen.IsZero() {
		t.Errorf("silent locks: %+v", r)
	}
	standby := report.Report{Standby: true}
	if r := report.Merge(standby, short); r.Standby || !r.Started.Equal(at(5)) || r.Took != time.Second {
		t.Errorf("a sweep beside a standby: %+v", r)
	}
	if r := report.Merge(standby, standby); !r.Standby || !r.Started.IsZero() || r.Took != 0 {
		t.Errorf("two standbys: %+v", r)
	}
}
