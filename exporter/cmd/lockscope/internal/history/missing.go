package history

import (
	"fmt"
	"io"
	"strings"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/table"
)

// writeMissing names the pages that were not read, and those that lack a part of the span.
func writeMissing(out io.Writer, r *report) error {
	var b strings.Builder
	if !r.complete() {
		b.WriteString("\nINCOMPLETE:\n")
	}
	for _, p := range r.Pages {
		of := table.Printable(p.Page)
		if p.Instance != "" {
			of += " (" + table.Printable(p.Instance) + ")"
		}
		switch {
		case p.CompleteFrom == nil:
			fmt.Fprintf(&b, "  %s was not read: %s\n", of, table.Printable(p.Error))
		case p.Error != "":
			fmt.Fprintf(&b, "  %s is %s\n", of, table.Printable(p.Error))
		case !p.CompleteFrom.Before(r.To):
			fmt.Fprintf(&b, "  %s has nothing of this span: its samples begin at %s\n", of, clock(*p.CompleteFrom))
		case p.CompleteFrom.After(r.From):
			fmt.Fprintf(&b, "  %s lacks samples before %s\n", of, clock(*p.CompleteFrom))
		}
	}
	if r.PagesOmitted > 0 {
		fmt.Fprintf(&b, "  %d more pages were not read\n", r.PagesOmitted)
	}
	if r.Unfound != "" {
		fmt.Fprintf(&b, "  the servers may name more pages: %s\n", table.Printable(r.Unfound))
	}
	_, err := io.WriteString(out, b.String())
	return err
}
