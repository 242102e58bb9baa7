package draw

import (
	"github.com/lockscope/lockscope/exporter/internal/traceevent"
	"github.com/lockscope/lockscope/exporter/live/internal/timeline"
)

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
	case wait.Outcome == timeline.HandedOver:
		return "handed over inside the process"
	case wait.Outcome == timeline.Woken && wait.Name == waitHolder:
		return "the release named this waiter"
	case wait.Outcome == timeline.Woken:
		return "its turn in the process came"
	default:
		return "an attempt found the lock free"
	}
}
