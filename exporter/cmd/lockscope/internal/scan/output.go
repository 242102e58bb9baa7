package scan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/config"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/report"
)

// truncated reports whether the report may miss something.
func truncated(r report.Report) bool {
	for _, n := range r.Nodes {
		if n.Truncated || n.Err != nil {
			return true
		}
	}
	return false
}

// readText is how far a sweep came that was interrupted.
func readText(r report.Report) string {
	var keys int64
	read := 0
	for _, n := range r.Nodes {
		keys += n.Examined
		if n.Err == nil && !n.Truncated {
			read++
		}
	}
	return fmt.Sprintf("about %s examined, %d of %s read to the end", inspect.Count(keys, "key"), read,
		inspect.Count(len(r.Nodes), "node"))
}

func writeScan(a *ui.App, format ui.Format, r report.Report, status string) error {
	if format == ui.JSON {
		doc := report.NewDocument(r)
		doc.Status = status
		return ui.WriteJSON(a.Out, doc)
	}
	opt, text := ui.Layout{Width: ui.Terminal(a.Out)}, ""
	if len(r.Findings)+len(r.Pending) > 0 {
		head, rows := withOrigins(r, []string{"CLASS", "NODE", "KEY", "TTL", "HOLDER", "EVIDENCE"}, findingRows(r),
			findingOrigins(r))
		text = ui.TableText(head, rows, opt) + "\n"
	}
	head, rows := withOrigins(r, []string{"NODE", "LOCKS", "KEYS EXAMINED", "TOOK", "FOUND", "REMARK"}, nodeRows(r),
		nodeOrigins(r))
	text += ui.TableText(head, rows, opt)
	if r.Overflow > 0 {
		text += fmt.Sprintf("\n%s not listed: raise --max-findings\n", inspect.Count(r.Overflow, "more finding"))
	}
	_, err := fmt.Fprint(a.Out, text+"\n"+matchedText(r)+skippedText(r)+excludedText(r)+gapsText(r))
	return err
}

// matchedText is how many keys the report is about.
func matchedText(r report.Report) string {
	matched := make(map[string]int64)
	uncounted := 0
	for _, n := range r.Nodes {
		if n.Backend != "" {
			continue
		}
		if n.Matched == nil {
			uncounted++
		}
		for pattern, locks := range n.Matched {
			matched[pattern] += locks
		}
	}
	var b strings.Builder
	for _, pattern := range slices.Sorted(maps.Keys(matched)) {
		match := "match"
		if matched[pattern] == 1 {
			match = "matches"
		}
		fmt.Fprintf(&b, "%s %s %s\n", inspect.Count(matched[pattern], "key"), match, inspect.KeyText(pattern))
	}
	if uncounted > 0 {
		fmt.Fprintf(&b, "%d of %d nodes did not count all matching keys\n", uncounted, len(r.Nodes))
	}
	for _, n := range r.Nodes {
		if n.Backend != "" && len(n.Matched) > 0 {
			fmt.Fprintf(&b, "%s: %s\n", n.Backend, countedText(n.Matched))
		}
	}
	return b.String()
}

// skippedText has a line for each check that was not made and not asked for.
func skippedText(r report.Report) string {
	var b strings.Builder
	for _, g := range r.Skipped {
		fmt.Fprintf(&b, "%s\n", gapText(g))
	}
	return b.String()
}

// excludedText is what exclusions left out, and which have expired.
func excludedText(r report.Report) string {
	var b strings.Builder
	for _, e := range r.Excluded {
		what := inspect.KeyText(e.Pattern)
		if e.Group != "" {
			what = e.Group + ": " + what
		}
		reason := ui.Printable(e.Reason)
		switch until := e.Until.UTC().Format("2006-01-02 15:04 MST"); {
		case e.Ended:
			fmt.Fprintf(&b, "EXCLUSION EXPIRED %s: %s (%s): renew it or remove it\n", until, what,
				reason)
		default:
			are := "are"
			if e.Findings == 1 {
				are = "is"
			}
			fmt.Fprintf(&b, "%s %s excluded until %s: %s (%s)\n", inspect.Count(e.Findings, "finding"), are, until, what,
				reason)
		}
	}
	return b.String()
}

// gapsText has a line for each part that was not read.
func gapsText(r report.Report) string {
	gaps := r.Incomplete()
	if len(gaps) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("INCOMPLETE: these parts were not read, and may have findings:\n")
	for _, g := range gaps {
		fmt.Fprintf(&b, "  %s\n", gapText(g))
	}
	return b.String()
}

func gapText(g inspect.Gap) string {
	where := ""
	if g.Node != "" {
		where = g.Node + ": "
	}
	if g.Group != "" {
		where = g.Group + ": " + where
	}
	return fmt.Sprintf("%s: %s%s", g.Reason, where, ui.Printable(g.Detail))
}

func findingRows(r report.Report) [][]string {
	var rows [][]string
	for _, f := range r.Findings {
		rows = append(rows, findingRow(f, f.Evidence))
	}
	for _, f := range r.Pending {
		rows = append(rows, findingRow(f, "not confirmed: "+f.Evidence))
	}
	return rows
}

func findingRow(f report.Finding, evidence string) []string {
	holder := ui.Holder(f.Hold, f.TTL)
	if f.Class == inspect.ForeignType {
		holder = ui.Unknown
	}
	return []string{string(f.Class), f.Node, f.Lock(), ui.TTL(f.TTL), holder, evidence}
}

func nodeRows(r report.Report) [][]string {
	var rows [][]string
	for _, n := range r.Nodes {
		var remarks []string
		if n.Truncated {
			remarks = append(remarks, "truncated: the numbers are lower bounds")
		}
		if n.Err != nil {
			remarks = append(remarks, "failed: see below")
		}
		rows = append(rows, []string{
			n.Node, strconv.FormatInt(n.Locks, 10), strconv.FormatInt(n.Examined, 10), inspect.Short(n.Took),
			foundText(n),
			strings.Join(remarks, "; "),
		})
	}
	return rows
}

// foundText says "nothing" only of what was read.
func foundText(n report.NodeReport) string {
	text := countText(n.Counts)
	switch {
	case n.Examined == 0 && (n.Err != nil || n.Truncated):
		return "not read"
	case n.Err != nil || n.Truncated:
		return text + " in what was read"
	}
	return text
}

func countText(counts map[inspect.Class]int) string {
	var parts []string
	for _, class := range config.ClassNames() {
		if n := counts[inspect.Class(class)]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, class))
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

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
