package timeline

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockscope/lockscope/exporter/internal/traceevent"
	"github.com/lockscope/lockscope/exporter/live/internal/text"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// Resource is what is known of one resource: what has ended, and what is under way.
type Resource struct {
	Of       text.ID
	Events   []Event
	Restarts []Restart // of its nodes
	Here     func(instance string) bool
}

// drawing is the group of one resource.
type drawing struct {
	*Resource
	trace *traceevent.Trace
	title string
	rows  map[string]*rows // by instance
	holds []*hold          // by start
	calls map[*Caller]*call
	order []*call             // by start; those that start at once in the order of their events
	nodes *traceevent.Process // nil before the first command
	lanes map[string]*traceevent.Lanes
}

// rows are those of one instance.
type rows struct{ leases, calls *traceevent.Lanes }

// Draw adds a resource to the trace.
//
// It has a group of processes: one for each instance that held it or waited for it, in the order in which they first
// held it, and one for the nodes. A process has a row of leases and a row for each call at a time; the nodes have a row
// for each node. An arrow goes from the end of a lease through the wait that it ended to the next lease.
func Draw(t *traceevent.Trace, r Resource) {
	d := &drawing{
		Resource: &r, trace: t, title: title(r.Of), rows: make(map[string]*rows),
		calls: make(map[*Caller]*call), lanes: make(map[string]*traceevent.Lanes),
	}
	d.holds = d.holdsOf()
	d.gather()
	for _, h := range d.holds {
		d.drawHold(h)
	}
	for _, c := range d.order {
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
		case Call:
			d.callOf(e).event = e
		case Attempt, Wait:
			c := d.callOf(e)
			c.steps = append(c.steps, &step{Event: e})
		}
	}
	for _, c := range d.order {
		c.fit()
	}
	slices.SortStableFunc(d.order, func(x, y *call) int { return cmp.Compare(x.start, y.start) })
}

func (d *drawing) callOf(e *Event) *call {
	c := d.calls[e.Of]
	if c == nil {
		c = &call{of: e.Of}
		d.calls[e.Of], d.order = c, append(d.order, c)
	}
	return c
}

// within is the time nearest to at inside a slice: its end is outside.
func within(at, start, end time.Duration) time.Duration { return max(min(at, end-1), start) }

// waitName is the name of a wait: whom or what it waits for.
func (s *step) waitName() string {
	switch class := locktrace.Wait(s.What); {
	case class == locktrace.WaitHolder && s.By == nil && s.Name == string(locktrace.WaitLocal):
		return "wait for its turn in the process"
	case class == locktrace.WaitHolder && s.By != nil:
		return "wait behind " + s.By.Instance
	case class == locktrace.WaitHolder:
		return "wait behind a holder"
	default:
		return "wait: " + words(s.What)
	}
}

// words makes a word of a closed set readable.
func words(word string) string { return strings.ReplaceAll(word, "_", " ") }

func number(n int) string { return strconv.Itoa(n) }

// numbered numbers rows from the second.
func numbered(name string, n int) string {
	if n == 1 {
		return name
	}
	return name + " " + number(n)
}

// fence is text, because a viewer reads numbers as float64.
func fence(n uint64) string { return strconv.FormatUint(n, 10) }

func addText(args traceevent.Args, key, value string) {
	if value != "" {
		args[key] = value
	}
}
