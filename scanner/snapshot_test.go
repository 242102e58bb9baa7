package scanner_test

import (
	"slices"
	"testing"
	"time"

	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/report"
)

// TestGroups sweeps independent servers, each group by itself: no lock is an orphan, and one report names the group of
// each finding.
func TestGroups(t *testing.T) {
	n := startNodes(t, 2)
	var scanners []*scanner.Scanner
	for i, name := range []string{"a", "b"} {
		ctx, c := within(t), n.clients[i]
		must(t, c.Set(ctx, "lock:"+name, lockscopeValue(token, time.Now()), time.Minute).Err())
		must(t, c.Set(ctx, "lock:leak", redsyncValue, 0).Err())
		scanners = append(scanners, newScanner(t, n.clients[i:i+1], scanner.WithGroup(name),
			scanner.WithPatterns("lock:*", name+":*"),
			scanner.WithExclusions(report.Exclusion{Pattern: "x", Until: time.Now().Add(time.Hour), Reason: "why"})))
	}
	merged := report.Merge(sweep(t, scanners[0]), sweep(t, scanners[1]))
	wantFindings(t, "merged", merged.Findings, "no_ttl lock:leak", "no_ttl lock:leak")
	groups := func(of ...string) []string { return of }
	if got := groups(merged.Findings[0].Group, merged.Findings[1].Group); !slices.Contains(got, "a") ||
		!slices.Contains(got, "b") {
		t.Errorf("findings of %q", got)
	}
	gaps := merged.Incomplete()
	if len(merged.Nodes) != 2 || merged.Nodes[1].Group != "b" || len(gaps) != 2 || gaps[1].Group != "b" ||
		merged.Excluded[1].Group != "b" {
		t.Errorf("%+v\n%+v", merged, gaps)
	}
	d := report.NewDocument(merged)
	if d.Nodes[1].Group != "b" || d.Gaps[1].Group != "b" || d.Findings[1].Group == "" || d.Excluded[1].Group != "b" {
		t.Errorf("%+v", d)
	}
	s := scanner.MergeSnapshots(scanners[0].Snapshot(), scanners[1].Snapshot())
	if len(s.Nodes) != 2 || s.Standby || len(s.Last.Findings) != 2 || s.Last.Took <= 0 {
		t.Errorf("%+v", s)
	}
}
