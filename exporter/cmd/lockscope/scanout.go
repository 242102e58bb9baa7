package main

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/table"
	"github.com/lockscope/lockscope/scanner"
)

// scanReport is the JSON form of a sweep: schema 1. Fields may be added to it,
// none changes its meaning.
type scanReport struct {
	Schema    int           `json:"schema"`
	Status    string        `json:"status"` // clean, findings or error, like the exit status
	Started   time.Time     `json:"started"`
	Took      float64       `json:"took_seconds"`
	Truncated bool          `json:"truncated"` // some node was not looked at to its end
	Overflow  int           `json:"overflow"`  // findings beyond --max-findings
	Nodes     []scanNode    `json:"nodes"`
	Findings  []scanFinding `json:"findings"` // confirmed by the second look, worst first
	Pending   []scanFinding `json:"pending"`  // not confirmed: the sweep ended before the second look
}

type scanNode struct {
	Node      string                `json:"node"`
	Took      float64               `json:"took_seconds"`
	Locks     int64                 `json:"locks"`
	Examined  int64                 `json:"examined"`
	Calls     int64                 `json:"calls"`
	Counts    map[scanner.Class]int `json:"counts"`
	Path      scanner.Path          `json:"path,omitempty"`
	Truncated bool                  `json:"truncated"`
	Error     string                `json:"error,omitempty"`
}

type scanFinding struct {
	Class     scanner.Class `json:"class"`
	Node      string        `json:"node"`
	Key       string        `json:"key"` // as it is if printable, else a quoted Go string
	KeyBase64 string        `json:"key_base64"`
	Type      string        `json:"type"`
	TTL       *float64      `json:"ttl_seconds"` // null: never expires
	Holder    *scanHolder   `json:"holder,omitempty"`
	Evidence  string        `json:"evidence"`
	FirstSeen time.Time     `json:"first_seen"`
	LastSeen  time.Time     `json:"last_seen"`
}

type scanHolder struct {
	Format scanner.Format `json:"format"`
	Name   string         `json:"name,omitempty"`
	Since  *time.Time     `json:"since,omitempty"`
	Count  int            `json:"count,omitempty"`
	Fence  uint64         `json:"fence,string,omitempty"`
}

func jsonReport(r scanner.Report, status string) scanReport {
	out := scanReport{
		Schema: schemaVersion, Status: status, Started: r.Started, Took: r.Took.Seconds(),
		Truncated: truncated(r), Overflow: r.Overflow, Nodes: []scanNode{},
		Findings: jsonFindings(r.Findings), Pending: jsonFindings(r.Pending),
	}
	for _, n := range r.Nodes {
		node := scanNode{
			Node: n.Node, Took: n.Took.Seconds(), Locks: n.Locks, Examined: n.Examined, Calls: n.Calls,
			Counts: n.Counts, Path: n.Path, Truncated: n.Truncated,
		}
		if n.Err != nil {
			node.Error = n.Err.Error()
		}
		out.Nodes = append(out.Nodes, node)
	}
	return out
}

func jsonFindings(findings []scanner.Finding) []scanFinding {
	out := make([]scanFinding, 0, len(findings))
	for _, f := range findings {
		one := scanFinding{
			Class: f.Class, Node: f.Node, Key: scanner.KeyText(f.Key), KeyBase64: base64.StdEncoding.EncodeToString([]byte(f.Key)),
			Type: f.Type, TTL: secondsLeft(f.TTL), Evidence: f.Evidence, FirstSeen: f.FirstSeen, LastSeen: f.LastSeen,
		}
		if f.Hold != (scanner.Hold{}) {
			one.Holder = jsonHolder(f.Hold)
		}
		out = append(out, one)
	}
	return out
}

func jsonHolder(h scanner.Hold) *scanHolder {
	out := &scanHolder{Format: h.Format, Name: h.Instance, Count: h.Count, Fence: h.Fence}
	if !h.Since.IsZero() {
		out.Since = &h.Since
	}
	return out
}

// secondsLeft is nil for a lock that never expires.
func secondsLeft(ttl time.Duration) *float64 {
	if ttl < 0 {
		return nil
	}
	s := ttl.Seconds()
	return &s
}

// truncated reports whether the report may miss something.
func truncated(r scanner.Report) bool {
	for _, n := range r.Nodes {
		if n.Truncated || n.Err != nil {
			return true
		}
	}
	return false
}

func (a *app) writeScan(format outputFlag, r scanner.Report, status string) error {
	if format == outputJSON {
		return a.writeJSON(jsonReport(r, status))
	}
	opt := table.Options{Width: terminal(a.out)}
	if len(r.Findings)+len(r.Pending) > 0 {
		head := []string{"CLASS", "NODE", "KEY", "TTL", "HOLDER", "EVIDENCE"}
		if err := table.Write(a.out, head, findingRows(r), opt); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(a.out); err != nil {
			return err
		}
	}
	if err := table.Write(a.out, []string{"NODE", "LOCKS", "KEYS EXAMINED", "TOOK", "FOUND", "REMARK"}, nodeRows(r), opt); err != nil {
		return err
	}
	if r.Overflow > 0 {
		_, err := fmt.Fprintf(a.out, "\n%d more findings are counted and not listed: raise --max-findings\n", r.Overflow)
		return err
	}
	return nil
}

func findingRows(r scanner.Report) [][]string {
	var rows [][]string
	for _, f := range r.Findings {
		rows = append(rows, findingRow(f, f.Evidence))
	}
	for _, f := range r.Pending {
		rows = append(rows, findingRow(f, "not confirmed: "+f.Evidence))
	}
	return rows
}

func findingRow(f scanner.Finding, evidence string) []string {
	return []string{string(f.Class), f.Node, scanner.KeyText(f.Key), ttlText(f.TTL), holderText(f.Hold), evidence}
}

func nodeRows(r scanner.Report) [][]string {
	var rows [][]string
	for _, n := range r.Nodes {
		var remarks []string
		if n.Truncated {
			remarks = append(remarks, "truncated: numbers are lower bounds")
		}
		if n.Err != nil {
			remarks = append(remarks, n.Err.Error())
		}
		rows = append(rows, []string{
			n.Node, strconv.FormatInt(n.Locks, 10), strconv.FormatInt(n.Examined, 10), short(n.Took), countText(n.Counts), strings.Join(remarks, "; "),
		})
	}
	return rows
}

func countText(counts map[scanner.Class]int) string {
	var parts []string
	for _, class := range classNames() {
		if n := counts[scanner.Class(class)]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, class))
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}
