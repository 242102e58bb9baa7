package scan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/scanner/report"
)

// origin is where a row of a table comes from.
type origin struct{ group, backend string }

func findingOrigins(r report.Report) (all []origin) {
	for _, f := range slices.Concat(r.Findings, r.Pending) {
		all = append(all, origin{f.Group, f.Backend})
	}
	return all
}

func nodeOrigins(r report.Report) (all []origin) {
	for _, n := range r.Nodes {
		all = append(all, origin{n.Group, n.Backend})
	}
	return all
}

// withOrigins puts a column in front if the report is of groups, and one if it is not of Redis alone.
func withOrigins(r report.Report, head []string, rows [][]string, of []origin) ([]string, [][]string) {
	if len(r.Nodes) > 0 && r.Nodes[0].Group != "" {
		head, rows = inFront("GROUP", head, rows, func(i int) string { return of[i].group })
	}
	if slices.ContainsFunc(r.Nodes, func(n report.NodeReport) bool { return n.Backend != "" }) {
		head, rows = inFront("BACKEND", head, rows, func(i int) string { return cmp.Or(of[i].backend, servers.Redis) })
	}
	return head, rows
}

func inFront(title string, head []string, rows [][]string, cell func(row int) string) ([]string, [][]string) {
	for i := range rows {
		rows[i] = append([]string{cell(i)}, rows[i]...)
	}
	return append([]string{title}, head...), rows
}

// countedText is how much of a system was read: "advisory locks 2, locks of pglock 14".
func countedText(counted map[string]int64) string {
	var parts []string
	for _, what := range slices.Sorted(maps.Keys(counted)) {
		parts = append(parts, fmt.Sprintf("%s %d", what, counted[what]))
	}
	return strings.Join(parts, ", ")
}
