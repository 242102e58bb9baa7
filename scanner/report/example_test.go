package report_test

import (
	"encoding/json"
	"fmt"
	"log"
	"time"

	"github.com/lockscope/lockscope/scanner/report"
)

// A program that reads the locks of another system reports them in the same form.
func ExampleNewDocument() {
	r := report.Report{
		Started: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC),
		Nodes:   []report.NodeReport{{Node: "pg-1:5432", Locks: 3}},
		Findings: []report.Finding{{
			Class: report.NoTTL, Node: "pg-1:5432", Key: "invoice:7", Type: "row", TTL: -1, Confirmed: true,
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
