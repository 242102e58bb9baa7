package report_test

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/report"
)

var update = flag.Bool("update", false, "write testdata/document.json anew")

// TestDocument compares a document with testdata/document.json: a change there affects every reader.
func TestDocument(t *testing.T) {
	at := time.Date(2026, 11, 21, 18, 0, 0, 5e6, time.UTC)
	finding := func(class inspect.Class, key string, ttl time.Duration, h inspect.Hold) report.Finding {
		return report.Finding{
			Class: class, Node: "redis-1:6379", Key: key, Type: "string", TTL: ttl, Hold: h,
			Evidence: "why", FirstSeen: at, LastSeen: at.Add(5 * time.Second), Confirmed: class != inspect.Orphan,
		}
	}
	ours := inspect.Hold{
		Holder: lock.Holder{Instance: "web-3/4711", Since: at.Add(-time.Hour),
			Traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"},
		Format: inspect.FormatLockscope, Fence: 1<<60 + 1,
	}
	redisson := inspect.Hold{Holder: lock.Holder{Instance: "8743c9c0…:42"}, Format: inspect.FormatRedisson, Count: 3}
	ofTeam := finding(inspect.NoTTL, "lock:order:1", -1, ours)
	ofTeam.Policy, ofTeam.Team = "orders", "shop"
	d := report.NewDocument(report.Report{
		Started: at, Took: 1500 * time.Millisecond, Overflow: 4,
		Nodes: []report.NodeReport{
			{Node: "redis-1:6379", Took: time.Second, Locks: 3, Examined: 10, Calls: 2, Unread: 5, Unwatched: 6,
				Counts: map[inspect.Class]int{inspect.NoTTL: 1, inspect.LongTTL: 1}, Path: report.PathScript},
			{Node: "redis-2:6379", Truncated: true, Err: errors.New("connection refused"),
				Slots: []report.SlotRange{{First: 0, Last: 5460}, {First: 7, Last: 7}}},
		},
		Findings: []report.Finding{ofTeam,
			finding(inspect.LongTTL, "lock:\xff\n", 90*time.Minute, redisson)},
		Pending:  []report.Finding{finding(inspect.Orphan, "lock:order:2", 0, ours)},
		Silent:   []report.Silent{{Group: "batch", Key: "lock:nightly", FirstSeen: at.Add(-48 * time.Hour), LastSeen: at, Usual: 60}},
		Silents:  2,
		Resolved: []report.Finding{finding(inspect.ForeignType, `"quoted"`, time.Millisecond, inspect.Hold{})},
	})
	d.Instance, d.Status, d.Omitted = "cron", "findings", 2
	got, err := json.MarshalIndent(d, "", "  ")
	must(t, err)
	golden := "testdata/document.json"
	if *update {
		must(t, os.WriteFile(golden, append(got, '\n'), 0o644))
	}
	want, err := os.ReadFile(golden)
	must(t, err)
	if string(got)+"\n" != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestEmptyDocument has empty lists instead of null, and no time of a sweep that did not run.
func TestEmptyDocument(t *testing.T) {
	got, err := json.Marshal(report.NewDocument(report.Report{}))
	must(t, err)
	want := `{"schema":1,"took_seconds":0,"standby":false,"truncated":false,"overflow":0,"omitted":0,` +
		`"complete":false,"gaps":[],"skipped":[],"nodes":[],"findings":[],"pending":[],"resolved":[]}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
