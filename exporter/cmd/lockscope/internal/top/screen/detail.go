package screen

import (
	"fmt"
	"strings"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/fleet"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/listing"
)

// detail is one resource: its holder, what that waits for, and the waiters.
func detail(s *Snapshot, o *Options) (lines []line) {
	head := "lockscope top  " + s.At.Format("15:04:05") + "  " + clean(o.Selected.Name)
	if len(s.Sets) > 1 {
		head += " in " + clean(o.Selected.Set)
	}
	style := bold
	if o.Paused {
		head, style = head+"  PAUSED: read "+ago(s.At, o.Now), yellow
	}
	lines = append(lines, line{head, style})
	below := []line{{"esc back  q quit  up/down scroll  p pause", dim}}
	r := s.Find(o.Selected.Set, o.Selected.Name)
	if r == nil {
		return append(append(lines, line{"Nobody waits for it now.", plain}), below...)
	}
	if isStale(s, r, o) {
		lines = append(lines, line{"STALE: its nodes were not read in time", yellow})
	}
	lines = append(lines, line{fmt.Sprintf("%s, of %s, the longest for %s; class: %s",
		waitingText(r), plural(r.Processes, "process", "processes"),
		duration(r.Longest), classText(r)), bold})
	if kind := kindText(r); kind != "" {
		lines = append(lines, line{kind, plain})
	}
	lines = append(lines, blockers(r, o.Width)...)
	lines = append(lines, line{})
	room := 0
	if o.Height > 0 {
		room = max(2, o.Height-len(lines)-len(below))
	}
	lines = append(lines, waiters(r, o, room)...)
	return filled(lines, below, o)
}

// waitingText counts calls, or the candidates of an election.
func waitingText(r *fleet.Row) string {
	if r.StandsBy() {
		return candidates(r.Callers)
	}
	return plural(r.Callers, "call waits", "calls wait")
}

func candidates(n int) string { return plural(n, "candidate stands by", "candidates stand by") }

// shownSlots is how many slots of a semaphore have a line.
const shownSlots = 10

// slots are the holders of a semaphore's slots: callers wait for the first that is free.
func slots(r *fleet.Row) (lines []line) {
	for i := range r.Taken[:min(len(r.Taken), shownSlots)] {
		slot := &r.Taken[i]
		text := fmt.Sprintf("slot %d is held by ", slot.Number()) + clean(fleet.HolderName(&slot.Lock)) + holdText(&slot.Lock)
		if slot.WaitsFor != "" {
			text += ", which waits for " + clean(slot.WaitsFor)
		}
		lines = append(lines, line{text, plain})
	}
	if more := len(r.Taken) - shownSlots; more > 0 {
		lines = append(lines, line{fmt.Sprintf("and %d more slots", more), dim})
	}
	return lines
}

// readers are those that hold a read/write lock. A writer waits for all of them.
func readers(r *fleet.Row) (lines []line) {
	for i := range r.ReadBy[:min(len(r.ReadBy), shownSlots)] {
		text := "read by " + clean(fleet.HolderName(&r.ReadBy[i])) + holdText(&r.ReadBy[i])
		lines = append(lines, line{text, plain})
	}
	if more := r.Readers - len(lines); more > 0 {
		lines = append(lines, line{fmt.Sprintf("and %d more readers", more), dim})
	}
	if r.Writers > 0 {
		text := plural(r.Writers, "process waits", "processes wait") + " to write: readers that come later wait behind"
		lines = append(lines, line{text, yellow})
	}
	return lines
}

// holdText is where, for how long and why the holder has the lock, and how long it lives.
func holdText(l *listing.Lock) (text string) {
	if l.Hold.CallSite != "" {
		text += " at " + clean(l.Hold.CallSite)
	}
	if held := l.HeldFor(); held > 0 {
		text += " for " + inspect.Short(held)
	}
	if l.Hold.Reason != "" {
		text += ", reason: " + clean(l.Hold.Reason)
	}
	if l.Hold.Done {
		text += ", done: kept for its minimum hold"
	}
	if l.TTL != 0 {
		text += ", ttl " + ui.TTL(l.TTL)
	}
	return text
}

// blockers are the holder and its chain, one line each.
func blockers(r *fleet.Row, width int) (lines []line) {
	h := r.Holder
	switch {
	case len(r.Taken) > 0:
		return append(slots(r), chain(r)...)
	case r.Readers > 0:
		return append(readers(r), chain(r)...)
	case h == nil:
		return []line{{"No holder is known.", plain}}
	}
	text := "held by " + holderText(r) + holdText(h)
	if of := h.Of + h.Silent; of > 1 {
		text += fmt.Sprintf(", on %d of %d nodes", h.Nodes, of)
	}
	if !h.Certain() {
		text += ": held if nodes that do not answer have it, too"
	}
	for _, part := range wrap(text, width, 2) {
		lines = append(lines, line{part, plain})
	}
	for _, named := range []struct{ what, text string }{
		{"trace", fleet.TraceID(h.Hold.Traceparent)}, {"page", h.Hold.Page}} {
		if named.text != "" {
			lines = append(lines, line{"  " + named.what + " " + clean(named.text), dim})
		}
	}
	return append(lines, chain(r)...)
}

// chain is what the holder waits for, and on.
func chain(r *fleet.Row) (lines []line) {
	for i := range r.Chain {
		lines = append(lines, line{strings.Repeat("  ", i+1) + linkText(&r.Chain[i]), plain})
	}
	if r.Deadlock {
		lines = append(lines, line{"DEADLOCK: nobody in this chain can go on until a caller gives up", red})
	}
	return lines
}

// waiters are those from Scroll on that fit.
func waiters(r *fleet.Row, o *Options, room int) (lines []line) {
	first := max(0, min(o.Scroll, len(r.Waiters)-1))
	last := len(r.Waiters)
	if room > 0 {
		last = min(last, first+max(1, room-2))
	}
	g := grid{columns: []column{
		{title: "WAITER", squeeze: true}, {title: "CALLS", right: true}, {title: "FOR", right: true},
		{title: "CLASS", from: 90}, {title: "AT", squeeze: true}, {title: "HOLDS", squeeze: true, prose: true},
		{title: "TRACE", from: 140},
	}}
	for _, w := range r.Waiters[first:last] {
		name, class := w.Instance, w.Class
		if name == "" {
			name = ui.Unknown
		}
		if class == "" {
			class = ui.Unknown
		}
		g.rows = append(g.rows, []string{
			clean(name), fmt.Sprint(w.Callers), duration(w.Waited), clean(class), clean(w.CallSite),
			clean(fleet.HoldsText(w.Holds)), clean(w.TraceID),
		})
	}
	lines = g.lines(o.Width, func(int) style { return plain })
	if text := elsewhere(r, first, last); text != "" {
		lines = append(lines, line{text, dim})
	}
	return lines
}

// elsewhere says how many waiters have no line.
func elsewhere(r *fleet.Row, first, last int) string {
	var parts []string
	if last-first < len(r.Waiters) {
		parts = append(parts, fmt.Sprintf("waiters %d to %d of %d", first+1, last, len(r.Waiters)))
	}
	if r.Unlisted > 0 {
		parts = append(parts, plural(r.Unlisted, "process", "processes")+" further back in the queue")
	}
	return strings.Join(parts, "; ")
}
