package report_test

import (
	"encoding/json"
	"fmt"
	"log"
	"time"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/report"
)

// A program that reads the locks of another system reports them in the same form.
func ExampleNewDocument() {
	r := report.Report{
		Started: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC),
		Nodes:   []report.NodeReport{{Node: "pg-1:5432", Locks: 3}},
		Findings: []report.Finding{{
			Class: inspect.NoTTL, Node: "pg-1:5432", Key: "invoice:7", Type: "row", TTL: -1, Confirmed: true,
			Evidence: "the row has no expiry",
		}},
	}
	d := report.NewDocument(r)
	text, err := json.Marshal(d.Findings[0].TTL)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d.Complete, d.Findings[0].Class, d.Findings[0].Key, string(text))
	// Output:
	// true no_ttl invoice:7 null
}

// Another system's report beside that of Redis: a row of PostgreSQL that nothing will remove, and a server that was not
// read.
func ExampleMerge() {
	swept := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	redis := report.Report{Started: swept,
		Nodes: []report.NodeReport{{Node: "redis-1:6379", Group: "orders", Locks: 3}}}
	postgres := report.Report{
		Started: swept,
		Nodes: []report.NodeReport{
			{Node: "pg-1:5432", Group: "billing", Locks: 1},
			{Node: "pg-2:5432", Group: "billing", Gaps: []inspect.Gap{{
				Reason: inspect.ReasonNodeFailed, Node: "pg-2:5432", Group: "billing", Detail: "connection refused",
			}}},
		},
		Findings: []report.Finding{{
			Class: inspect.NoTTL, Node: "pg-1:5432", Group: "billing", Key: "invoice:7", Type: "row", TTL: -1,
			Confirmed: true,
			Evidence:  "the row has no time at which it expires",
		}},
	}
	all := report.Merge(redis, postgres)
	for _, f := range all.Findings {
		fmt.Println(f.Group, f.Node, f.Class, f.Key+":", f.Evidence)
	}
	for _, gap := range all.Incomplete() {
		fmt.Println(gap.Group, gap.Node, gap.Reason)
	}
	// Output:
	// billing pg-1:5432 no_ttl invoice:7: the row has no time at which it expires
	// billing pg-2:5432 node_failed
}
