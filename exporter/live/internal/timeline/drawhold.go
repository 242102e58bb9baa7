package timeline

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockscope/lockscope/exporter/internal/traceevent"
	"github.com/lockscope/lockscope/exporter/live/internal/text"
)

// hold is a stretch of time in which an instance had the resource: a lease of this Board, or one that refusals named.
type hold struct {
	start, end time.Duration
	instance   string
	lease      *Event        // nil for a lease of another process
	by         *Holder       // of another process
	told       time.Duration // when a refusal last named it
	open       bool
	thread     *traceevent.Thread
}

// holdsOf returns all of them by start.
func (d *drawing) holdsOf() (all []*hold) {
	type key struct {
		instance string
		since    time.Duration
		known    bool
	}
	elsewhere := make(map[key]*hold)
	for i := range d.Events {
		e := &d.Events[i]
		switch {
		case e.Kind == Lease:
			all = append(all, &hold{start: e.Start, end: e.End, instance: e.Of.Instance, lease: e, open: e.Open})
		case e.By != nil && !e.By.Here:
			k := key{e.By.Instance, e.By.Since, e.By.Known}
			h := elsewhere[k]
			if h == nil {
				h = &hold{start: e.Start, end: e.Start, instance: e.By.Instance, by: e.By}
				if e.By.Known {
					h.start = min(e.By.Since, e.Start)
				}
				elsewhere[k] = h
				all = append(all, h)
			}
			h.seen(e)
		}
	}
	endBefore(all)
	slices.SortStableFunc(all, func(x, y *hold) int {
		return cmp.Or(cmp.Compare(x.start, y.start), cmp.Compare(x.end, y.end))
	})
	return all
}

// seen prolongs a lease of another process. An attempt that was refused shows that it is held, and a wait for the
// holder that it is probably held until the wait ends.
func (h *hold) seen(e *Event) {
	h.start, h.told = min(h.start, e.Start), max(h.told, e.Start)
	at := e.Start
	if e.Open || e.Kind == Wait && e.Name == waitHolder {
		at = e.End
	}
	h.end, h.open = max(h.end, at), h.open || e.Open
}

// endBefore ends leases of other processes where the next holder begins. A waiter that the release did not name waits
// on for a while.
func endBefore(all []*hold) {
	for _, h := range all {
		for _, next := range all {
			if h.by != nil && next != h && next.start >= h.told && next.start < h.end {
				h.end, h.open = next.start, false
			}
		}
	}
}

func (d *drawing) drawHold(h *hold) {
	h.thread = d.instance(h.instance).leases.Take(h.start, h.end)
	s := traceevent.Slice{Name: "holds", Cat: "lease", Start: h.start, End: h.end, Args: traceevent.Args{}}
	if h.lease == nil {
		s.Args["known_from"] = "refusals"
		addText(s.Args, "call_site", h.by.CallSite)
		addText(s.Args, "trace_id", h.by.Trace)
	} else {
		s.Name = "holds, fence " + fence(h.lease.Fence)
		s.Args["fence"] = fence(h.lease.Fence)
		addText(s.Args, "ended", h.lease.Outcome)
		addText(s.Args, "call_site", h.lease.Of.CallSite)
		addText(s.Args, "trace_id", text.TraceID(h.lease.Of.Trace))
	}
	switch {
	case h.open:
		s.Name += " (unfinished)"
		s.Args["unfinished"] = true
	case h.lost():
		s.Name, s.Color = s.Name+": "+h.lease.Outcome, traceevent.ColorLost
	}
	h.thread.Slice(s)
	if h.lost() {
		h.thread.Instant(traceevent.Instant{Name: "lease ended: " + h.lease.Outcome, Cat: "lease", At: h.end,
			Args: traceevent.Args{"fence": fence(h.lease.Fence)}})
	}
}

// lost reports whether a lease ended without a release.
func (h *hold) lost() bool { return h.lease != nil && !h.open && h.lease.Outcome != Released }

// drawRenewals draws rounds of renewal on the rows of their leases. It leaves out those of leases that are not kept.
func (d *drawing) drawRenewals() {
	type key struct {
		of    *Caller
		fence uint64
	}
	holds := make(map[key]*hold)
	for _, h := range d.holds {
		if h.lease != nil {
			holds[key{h.lease.Of, h.lease.Fence}] = h
		}
	}
	for i := range d.Events {
		e := &d.Events[i]
		h := holds[key{e.Of, e.Fence}]
		if e.Kind != Renewal || h == nil {
			continue
		}
		args := traceevent.Args{"fence": fence(e.Fence), "took_seconds": (e.End - e.Start).Seconds()}
		addText(args, "error", e.Detail)
		h.thread.Instant(traceevent.Instant{Name: "renewal: " + e.Outcome, Cat: "renewal", At: e.End, Args: args})
	}
}

// drawArrows draws who let whom in.
func (d *drawing) drawArrows() {
	for i, next := range d.holds {
		if next.lease == nil {
			continue
		}
		c := d.calls[next.lease.Of]
		if c == nil {
			continue
		}
		wait := c.lastWait()
		if wait == nil {
			continue
		}
		if before := lastBefore(d.holds[:i], next, c); before != nil {
			d.drawArrow(before, wait, c, next)
		}
	}
}

// lastBefore returns the holder that let a call in: of the earlier ones that ended while it waited, the last one.
func lastBefore(earlier []*hold, next *hold, c *call) (last *hold) {
	for _, h := range earlier {
		if !h.open && h.end >= c.start && h.end <= next.start && (last == nil || h.end >= last.end) {
			last = h
		}
	}
	return last
}

// drawArrow goes from the end of a lease through the end of a wait to the start of the next lease.
func (d *drawing) drawArrow(from *hold, wait *step, c *call, to *hold) {
	over := within(wait.end, wait.start, wait.end)
	end := min(within(from.end, from.start, from.end), over)
	if end < from.start || over > to.start {
		return // clocks of two processes differ by more than the wait
	}
	d.trace.Flow("lets in", "lets in", traceevent.Args{"how": how(from, wait), "next": to.instance},
		traceevent.Point{Thread: from.thread, At: end}, traceevent.Point{Thread: c.thread, At: over},
		traceevent.Point{Thread: to.thread, At: to.start})
}

// how says in words what ended the wait.
func how(from *hold, wait *step) string {
	switch {
	case from.lost():
		return "the lease before ended without a release and ran out"
	case wait.Outcome == HandedOver:
		return "handed over inside the process"
	case wait.Outcome == Woken && wait.Name == waitHolder:
		return "the release named this waiter"
	case wait.Outcome == Woken:
		return "its turn in the process came"
	default:
		return "an attempt found the lock free"
	}
}
