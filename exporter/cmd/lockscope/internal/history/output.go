package history

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/app"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/output"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/table"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/records"
)

// writeText writes the report for people: the strip, the tables, and what is missing.
func writeText(a *app.App, r *report, rows int) error {
	width := output.Terminal(a.Out)
	var b strings.Builder
	b.WriteString(headline(r) + "\n")
	if r.Waited > 0 {
		b.WriteString("\n")
		strip(&b, r, a.Env, width)
	}
	if _, err := io.WriteString(a.Out, b.String()); err != nil {
		return err
	}
	if err := writeBlockers(a.Out, r, rows, width); err != nil {
		return err
	}
	if err := writeResources(a.Out, r, rows, width); err != nil {
		return err
	}
	return writeMissing(a.Out, r)
}

// headline says how much was waited, by how many processes, and when.
func headline(r *report) string {
	from, to := r.From.Local(), r.To.Local()
	when := from.Format(time.TimeOnly) + " to " + to.Format(time.TimeOnly+" MST")
	if from.Format(time.DateOnly) != time.Now().Format(time.DateOnly) {
		when = from.Format(time.DateOnly) + " " + when
	}
	if r.Waited == 0 {
		what := "no call waited when a sample was taken"
		if r.read() == 0 || !r.CompleteFrom.Before(r.To) {
			what = "nothing is known of this span"
		}
		return fmt.Sprintf("%s, %s: %s", when, processes(r), what)
	}
	most := make([]int, r.Buckets)
	for _, c := range r.Classes {
		most = sum(most, c.Buckets)
	}
	calls := float64(slices.Max(most)) / float64(max(r.Bucket, 1))
	return fmt.Sprintf("%s, %s: %s of waiting, up to %.3g calls at a time", when, processes(r), waitedText(r.Waited),
		calls)
}

func processes(r *report) string {
	switch n := len(r.all); n {
	case 1:
		return "1 process"
	default:
		return fmt.Sprintf("%d processes", n)
	}
}

func writeBlockers(out io.Writer, r *report, limit, width int) error {
	var rows [][]string
	for _, b := range r.Blockers[:min(limit, len(r.Blockers))] {
		rows = append(rows, []string{
			place(b.Holder, b.CallSite, unknownHolder), waitedText(b.Waited), share(b.Waited, r.Waited), clock(b.First), clock(b.Last),
			resources(b), first(b.Waiters, state.Unnamed),
		})
	}
	head := []string{"BLOCKED BY", "WAITED", "SHARE", "FROM", "TO", "HOLDING", "WAITING CALLS"}
	return writeTable(out, head, rows, width, len(r.Blockers)-len(rows)+r.Omitted.Blockers, "holders")
}

func writeResources(out io.Writer, r *report, limit, width int) error {
	several := slices.ContainsFunc(r.Resources, func(p state.PastResource) bool {
		return p.Backend != r.Resources[0].Backend
	})
	var rows [][]string
	for _, p := range r.Resources[:min(limit, len(r.Resources))] {
		name := p.Resource
		if several && p.Backend != "" {
			name += " (" + p.Backend + ")"
		}
		if kind := construct(p); kind != "" {
			name += " (" + kind + ")"
		}
		rows = append(rows, []string{
			name, waitedText(p.Waited), share(p.Waited, r.Waited), clock(p.First), clock(p.Last), classes(p),
			first(p.Blockers, unknownHolder),
		})
	}
	head := []string{"RESOURCE", "WAITED", "SHARE", "FROM", "TO", "CLASS", "HELD BY"}
	return writeTable(out, head, rows, width, len(r.Resources)-len(rows)+r.Omitted.Resources, "resources")
}

// construct is what a resource is part of.
func construct(p state.PastResource) string {
	return output.Construct(records.Construct{Kind: lock.Kind(p.Kind), Slots: p.Slots}, 0, -1)
}

func writeTable(out io.Writer, head []string, rows [][]string, width, omitted int, what string) error {
	if len(rows) == 0 {
		return nil
	}
	if _, err := fmt.Fprintln(out); err != nil {
		return err
	}
	if err := table.Write(out, head, rows, table.Options{Width: width}); err != nil || omitted == 0 {
		return err
	}
	_, err := fmt.Fprintf(out, "... and %d more %s\n", omitted, what)
	return err
}

func clock(t time.Time) string { return t.Local().Format(time.TimeOnly) }

// unknownHolder is what the live page says, too: an unnamed one is known.
const unknownHolder = "holder unknown"

func place(instance, callSite, nameless string) string {
	instance = cmp.Or(instance, nameless)
	if callSite != "" {
		instance += " at " + callSite
	}
	return instance
}

// resources of a blocker, and what it waited for itself.
func resources(b blocker) string {
	var names []string
	for _, p := range b.Resources[:min(len(b.Resources), 2)] {
		names = append(names, p.Resource)
	}
	text := strings.Join(names, ", ")
	if more := b.Of - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	switch {
	case len(b.WaitsFor) > 0:
		text += "; waited itself for " + b.WaitsFor[0].Resource
	case len(b.Process) > 0:
		text += "; its process waited for " + b.Process[0].Resource
	}
	return text
}

// first names the first, and counts the others.
func first(all []state.WaitedPart, nameless string) string {
	if len(all) == 0 {
		return output.Unknown
	}
	text := place(all[0].Instance, all[0].CallSite, nameless)
	if len(all) > 1 {
		text += fmt.Sprintf(" and %d more", len(all)-1)
	}
	return text
}

// classes of a resource, most waited in first.
func classes(p state.PastResource) string {
	all := slices.SortedFunc(maps.Keys(p.Classes), func(a, b string) int {
		return p.Classes[b] - p.Classes[a]
	})
	var texts []string
	for _, c := range all[:min(len(all), 2)] {
		text := className(c)
		if len(all) > 1 {
			text += " " + share(p.Classes[c], p.Waited)
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", ")
}
