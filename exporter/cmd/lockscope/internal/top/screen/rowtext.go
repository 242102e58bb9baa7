package screen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/fleet"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/engine/records"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/scanner/listing"
)

// contended is the table of resources, within so many lines; 0: any. The selected row is always among them.
func contended(s *Snapshot, rows []*fleet.Row, o *Options, room int) (lines []line) {
	if len(rows) == 0 {
		return empty(s, o)
	}
	first, last := window(rows, o, room)
	g := grid{columns: columnsOf(s)}
	for _, r := range rows[first:last] {
		g.rows = append(g.rows, cells(s, r, o))
	}
	lines = g.lines(o.Width, func(row int) style { return rowStyle(rows[first+row], o) })
	if hidden := len(rows) - (last - first); hidden > 0 {
		lines = append(lines, line{fmt.Sprintf("  rows %d to %d of %d", first+1, last, len(rows)), dim})
	}
	if o.Every == 0 {
		lines = append(lines, chains(rows)...)
	}
	return lines
}

func empty(s *Snapshot, o *Options) []line {
	if _, resources, _ := s.Sums(); resources+s.Candidates() > 0 {
		return []line{{"No lock that somebody waits for has " + clean(o.Filter) + " in its name, holder or waiters", plain}}
	}
	return []line{{"No queue was found. Locks of other libraries have none: see \"lockscope list\"", dim}}
}

// window is which rows are shown.
func window(rows []*fleet.Row, o *Options, room int) (first, last int) {
	if room == 0 || len(rows)+1 <= room {
		return 0, len(rows)
	}
	size := max(1, room-2) // the head, and a line that says how many there are
	at := 0
	for i, r := range rows {
		if KeyOf(r) == o.Selected {
			at = i
		}
	}
	first = max(0, min(at-size/2, len(rows)-size))
	return first, min(len(rows), first+size)
}

func columnsOf(s *Snapshot) []column {
	return []column{
		{title: "  RESOURCE", squeeze: true}, {title: "SET", squeeze: true, hidden: len(s.Sets) < 2},
		{title: "KIND", squeeze: true, prose: true, hidden: !some(s, func(r *fleet.Row) bool { return r.Kind != "" }), from: 72},
		{title: "WAITING", right: true}, {title: "LONGEST", right: true}, {title: "CLASS", from: 100},
		{title: "HOLDER", squeeze: true, whole: state.UnnamedForever}, {title: "HELD", right: true}, {title: "TTL", right: true, from: 80},
		{title: "RATE", right: true, from: 120}, {title: "HELD P99", right: true, from: 132},
		{title: "WAITS FOR", squeeze: true, prose: true, hidden: !some(s, func(r *fleet.Row) bool { return len(r.Chain) > 0 })},
	}
}

func cells(s *Snapshot, r *fleet.Row, o *Options) []string {
	holder, held, ttl := holderText(r), ui.Unknown, ui.Unknown
	if h := longestHold(r); h != nil {
		held = duration(h.HeldFor())
		if h.TTL != 0 {
			ttl = ui.TTL(h.TTL)
		}
	}
	rate, p99 := ui.Unknown, ui.Unknown
	if r.Rate != nil {
		rate = fmt.Sprintf("%.1f/s", *r.Rate)
	}
	if r.HeldP99 != nil {
		p99 = duration(*r.HeldP99)
	}
	return []string{
		mark(s, r, o) + clean(r.Name), clean(r.Set), shortKind(r, o.Width), fmt.Sprint(r.Callers), duration(r.Longest),
		classText(r), holder, held, ttl, rate, p99, chainText(r),
	}
}

// mark is two letters: which row is selected, and whether the row is stale.
func mark(s *Snapshot, r *fleet.Row, o *Options) string {
	selected, state := " ", " "
	if o.Every > 0 && KeyOf(r) == o.Selected {
		selected = ">"
	}
	if isStale(s, r, o) {
		state = "~"
	}
	return selected + state
}

func isStale(s *Snapshot, r *fleet.Row, o *Options) bool {
	for i := range s.Sets {
		if set := &s.Sets[i]; set.Name == r.Set {
			return !o.Paused && set.Stale(o.Now, o.staleAfter())
		}
	}
	return false
}

// holderText is the holder, or in its place why the callers wait.
func holderText(r *fleet.Row) string {
	switch names := r.Holders(); {
	case r.Readers > len(r.ReadBy):
		return inspect.Count(r.Readers, "reader")
	case len(names) > 1:
		return inspect.Count(len(names), "holder")
	case len(names) == 1:
		return clean(names[0])
	case r.Holder != nil && r.Holder.Hold.Instance != "" && !r.Holder.Certain():
		return clean(r.Holder.Hold.Instance) + "?"
	case r.Holder != nil:
		return clean(fleet.HolderName(r.Holder))
	case r.Class != "" && r.Class != string(locktrace.WaitHolder):
		return "(" + clean(r.Class) + ")"
	}
	return ui.Unknown
}

// longestHold is the holder, or of a semaphore the one that has had its slot longest.
func longestHold(r *fleet.Row) (longest *listing.Lock) {
	longest = r.Holder
	for i := range r.Taken {
		if h := &r.Taken[i].Lock; longest == nil || h.HeldFor() > longest.HeldFor() {
			longest = h
		}
	}
	return longest
}

// some reports whether a resource is so.
func some(s *Snapshot, so func(*fleet.Row) bool) bool {
	return slices.ContainsFunc(s.Sets, func(set Set) bool {
		return slices.ContainsFunc(set.Resources, func(r fleet.Row) bool { return so(&r) })
	})
}

// kindText is what a resource is part of, with the term or the slots in use.
func kindText(r *fleet.Row) string {
	if r.Kind == lock.KindRead || r.Kind == lock.KindWrite {
		holder := lock.Kind("")
		if r.Writing {
			holder = lock.KindWrite
		}
		text := ui.ReadWrite(r.Readers, holder)
		if r.Writers > 0 {
			text += fmt.Sprintf(", %d to write", r.Writers)
		}
		return text
	}
	fence := uint64(0)
	if r.Holder != nil {
		fence = r.Holder.Hold.Fence
	}
	return ui.Construct(records.Construct{Kind: r.Kind, Slots: r.Slots}, fence, r.InUse)
}

// shortKind leaves the term of an election, sixteen digits as a rule, to wider terminals and the row's own page.
func shortKind(r *fleet.Row, width int) string {
	if r.StandsBy() && width > 0 && width < 100 {
		return string(r.Kind)
	}
	return kindText(r)
}

func classText(r *fleet.Row) string {
	if r.Class == "" {
		return ui.Unknown
	}
	return clean(r.Class)
}

// chainText is what the holder waits for, and on: short enough for a column.
func chainText(r *fleet.Row) string {
	if len(r.Chain) == 0 {
		return ""
	}
	names := make([]string, len(r.Chain))
	for i, l := range r.Chain {
		names[i] = clean(l.Resource)
	}
	text := strings.Join(names, " > ")
	if r.Deadlock {
		return "DEADLOCK " + text
	}
	return text
}

// sentence is the chain with its holders.
func sentence(r *fleet.Row) string {
	if r.Holder == nil {
		return ""
	}
	text := clean(r.Name) + ": held by " + holderText(r)
	for i := range r.Chain {
		text += ", " + linkText(&r.Chain[i])
	}
	return text
}

// linkText is what a holder waits for.
func linkText(l *fleet.Link) string {
	text := "which waits "
	if l.For > 0 {
		text += inspect.Short(l.For) + " "
	}
	text += "for " + clean(l.Resource)
	if l.Holder != "" {
		text += ", held by " + clean(l.Holder)
	}
	return text
}

func selectedText(r *fleet.Row) string {
	if text := sentence(r); text != "" {
		return text
	}
	if len(r.Taken) > 0 {
		return clean(r.Name) + ": " + kindText(r) + ", held by " + clean(strings.Join(r.Holders(), ", "))
	}
	return clean(r.Name) + ": no holder is known"
}

// chains are the sentences of all rows whose holder waits.
func chains(rows []*fleet.Row) (lines []line) {
	for _, r := range rows {
		if len(r.Chain) > 0 && !r.Deadlock { // a deadlock is said first of all
			lines = append(lines, line{sentence(r), plain})
		}
	}
	if len(lines) > 0 {
		lines = append([]line{{}}, lines...)
	}
	return lines
}

func rowStyle(r *fleet.Row, o *Options) style {
	switch {
	case o.Every > 0 && KeyOf(r) == o.Selected:
		return reverse
	case r.Deadlock:
		return red
	}
	return plain
}
