package scan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/target"
	"github.com/lockscope/lockscope/scanner"
)

// withBackends puts a column in front if the report is not of Redis alone.
func withBackends(r scanner.Report, head []string, rows [][]string, backends []string) ([]string, [][]string) {
	if !slices.ContainsFunc(r.Nodes, func(n scanner.NodeReport) bool { return n.Backend != "" }) {
		return head, rows
	}
	for i := range rows {
		rows[i] = append([]string{cmp.Or(backends[i], target.System)}, rows[i]...)
	}
	return append([]string{"BACKEND"}, head...), rows
}

func findingBackends(r scanner.Report) (backends []string) {
	for _, list := range [][]scanner.Finding{r.Findings, r.Pending} {
		for _, f := range list {
			backends = append(backends, f.Backend)
		}
	}
	return backends
}

func nodeBackends(r scanner.Report) (backends []string) {
	for _, n := range r.Nodes {
		backends = append(backends, n.Backend)
	}
	return backends
}

// keyText is a key, with the place that it is in.
func keyText(f scanner.Finding) string {
	if f.Place == "" {
		return scanner.KeyText(f.Key)
	}
	return scanner.KeyText(f.Place) + ": " + scanner.KeyText(f.Key)
}

// countedText is how much of a system was read: "advisory locks 2, locks of pglock 14".
func countedText(counted map[string]int64) string {
	var parts []string
	for _, what := range slices.Sorted(maps.Keys(counted)) {
		parts = append(parts, fmt.Sprintf("%s %d", what, counted[what]))
	}
	return strings.Join(parts, ", ")
}
