package ledger

import (
	"fmt"

	"github.com/lockscope/lockscope/examples/demo/internal/screen"
)

const (
	headFormat = "%-16s %12s %9s %9s %9s %10s %6s   %s"
	rowFormat  = "%-16s %12d %9s %9s %9s %10d %6d   %s"
)

// table returns the closing table, a line each, headed by its columns.
func table(entries []*entry) []string {
	lines := []string{fmt.Sprintf(headFormat,
		"resource", "acquisitions", "wait p50", "p99", "max", "hand-offs", "lost", "fences in order")}
	all := sum(entries)
	for _, e := range append(entries[:len(entries):len(entries)], all) {
		lines = append(lines, fmt.Sprintf(rowFormat, e.resource, e.acquisitions,
			screen.Short(e.waits.quantile(0.50)), screen.Short(e.waits.quantile(0.99)), screen.Short(e.waits.max),
			e.handoffs, e.lost, order(e)))
	}
	return lines
}

func sum(entries []*entry) *entry {
	all := &entry{resource: "all"}
	for _, e := range entries {
		all.unfenced = e.unfenced // all are of one system
		all.acquisitions += e.acquisitions
		all.handoffs += e.handoffs
		all.lost += e.lost
		all.disordered += e.disordered
		all.overlaps += e.overlaps
		all.waits.merge(&e.waits)
	}
	return all
}

func order(e *entry) string {
	verdict := "yes"
	switch {
	case e.unfenced:
		verdict = "none"
	case e.disordered > 0:
		verdict = fmt.Sprintf("NO, %d not", e.disordered)
	}
	if e.overlaps > 0 {
		verdict += fmt.Sprintf("; HELD TWICE %d times", e.overlaps)
	}
	return verdict
}
