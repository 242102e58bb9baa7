package draw

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockscope/lockscope/exporter/internal/traceevent"
	"github.com/lockscope/lockscope/exporter/live/internal/text"
	"github.com/lockscope/lockscope/exporter/live/internal/timeline"
)

// Resource is what is known of one resource: what has ended, and what is under way.
type Resource struct {
	Of       text.ID
	Events   []timeline.Event
	Restarts []timeline.Restart // of its nodes
	Here     func(instance string) bool
}

// drawing is the group of one resource.
type drawing struct {
	*Resource
	trace *traceevent.Trace
	title string
	rows  map[string]*rows // by instance
	holds []*hold          // by start
	calls map[*timeline.Caller]*call
	nodes *traceevent.Process // nil before the first command
	lanes map[string]*traceevent.Lanes
}

// rows are those of one instance.
type rows struct{ leases, calls *traceevent.Lanes }

// Draw adds a resource to the trace.
func Draw(t *traceevent.Trace, r Resource) {
	d := &drawing{
		Resource: &r, trace: t, title: title(r.Of), rows: make(map[string]*rows),
		calls: make(map[*timeline.Caller]*call), lanes: make(map[string]*traceevent.Lanes),
	}
	d.holds = d.holdsOf()
	d.gather()
	for _, h := range d.holds {
		d.drawHold(h)
	}
	for _, c := range d.inOrder() {
		d.drawCall(c)
	}
	d.drawRenewals()
	d.drawArrows()
	d.drawVotes()
	d.drawRestarts()
}

// title names a resource, and its set of nodes if that is known.
func title(of text.ID) string {
	if of.Backend == "" {
		return text.Resource(of.Resource)
	}
	return text.Resource(of.Resource) + " (" + text.Name(of.Backend) + ")"
}

// instance returns the rows of an instance, and adds its process first if it has none.
func (d *drawing) instance(name string) *rows {
	if known := d.rows[name]; known != nil {
		return known
	}
	label := "another process"
	if d.Here(name) {
		label = "this process"
	}
	p := d.trace.Process(d.title+": "+text.Name(name), label)
	added := &rows{
		leases: traceevent.NewLanes(func(n int) *traceevent.Thread { return p.Thread(numbered("leases", n), 0) }),
		calls:  traceevent.NewLanes(func(n int) *traceevent.Thread { return p.Thread("caller "+number(n), 1) }),
	}
	d.rows[name] = added
	return added
}

// gather sorts the events by call.
func (d *drawing) gather() {
	for i := range d.Events {
		e := &d.Events[i]
		switch e.Kind {
		case timeline.Call:
			d.callOf(e).event = e
		case timeline.Attempt, timeline.Wait:
			c := d.callOf(e)
			c.steps = append(c.steps, &step{Event: e})
		}
	}
	for _, c := range d.calls {
		c.fit()
	}
}

func (d *drawing) callOf(e *timeline.Event) *call {
	c := d.calls[e.Of]
	if c == nil {
		c = &call{of: e.Of}
		d.calls[e.Of] = c
	}
	return c
}

// inOrder returns the calls by start. Of those that start at once, the order does not change from look to look.
func (d *drawing) inOrder() []*call {
	all := make([]*call, 0, len(d.calls))
	seen := make(map[*call]bool)
	for i := range d.Events {
		if c := d.calls[d.Events[i].Of]; c != nil && !seen[c] {
			seen[c] = true
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(x, y *call) int { return cmp.Compare(x.start, y.start) })
	return all
}

// within is the time nearest to at inside a slice: its end is outside.
func within(at, start, end time.Duration) time.Duration { return max(min(at, end-1), start) }
