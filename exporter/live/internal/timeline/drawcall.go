package timeline

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockscope/lockscope/exporter/internal/traceevent"
	"github.com/lockscope/lockscope/exporter/live/internal/text"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
)

const waitHolder = string(locktrace.WaitHolder)

// call is an Acquire with its attempts and waits.
type call struct {
	of         *Caller
	event      *Event  // nil if it is not kept
	steps      []*step // by start, one after the other
	start, end time.Duration
	thread     *traceevent.Thread
}

// step is an attempt or a wait, with the time in which it is drawn.
type step struct {
	*Event
	start, end time.Duration
}

// fit finds the times of a call and its steps. Each step was timed by its own readings of the clock, so steps may
// overlap by a few microseconds, which a viewer would draw wrongly.
func (c *call) fit() {
	slices.SortStableFunc(c.steps, func(x, y *step) int { return cmp.Compare(x.Event.Start, y.Event.Start) })
	if c.event != nil {
		c.start, c.end = c.event.Start, c.event.End
	} else {
		c.start = c.steps[0].Start
		for _, s := range c.steps {
			c.end = max(c.end, s.End)
		}
	}
	at := c.start
	for _, s := range c.steps {
		s.start = min(max(s.Start, at), c.end)
		s.end = min(max(s.End, s.start), c.end)
		at = s.end
	}
}

// lastWait is the wait that ended with an attempt, or with the lock; nil if the call did not wait.
func (c *call) lastWait() *step {
	for _, s := range slices.Backward(c.steps) {
		if s.Kind == Wait && !s.Open && s.Detail == "" {
			return s
		}
	}
	return nil
}

func (d *drawing) drawCall(c *call) {
	c.thread = d.instance(c.of.Instance).calls.Take(c.start, c.end)
	s := traceevent.Slice{Name: "acquire", Cat: "call", Start: c.start, End: c.end, Args: traceevent.Args{}}
	addText(s.Args, "call_site", c.of.CallSite)
	addText(s.Args, "trace_id", text.TraceID(c.of.Trace))
	switch e := c.event; {
	case e == nil:
		s.Name += " (in part)"
		s.Args["incomplete"] = "older events of the call are not kept"
	case e.Open:
		s.Name += " (unfinished)"
		s.Args["unfinished"] = true
	default:
		s.Name += ": " + words(e.Outcome)
		s.Args["outcome"] = e.Outcome
		addText(s.Args, "error", e.Detail)
		if e.Outcome != Acquired {
			s.Color = traceevent.ColorFailed
		}
	}
	if c.event != nil && c.event.Attempt > 0 {
		s.Args["steps_omitted"] = c.event.Attempt
	}
	c.thread.Slice(s)
	for _, s := range c.steps {
		c.thread.Slice(s.slice())
	}
}

// slice is how a step is drawn.
func (s *step) slice() traceevent.Slice {
	drawn := traceevent.Slice{Start: s.start, End: s.end, Args: traceevent.Args{}}
	if s.By != nil {
		drawn.Args["holder"] = s.By.Instance
		addText(drawn.Args, "holder_call_site", s.By.CallSite)
	}
	addText(drawn.Args, "error", s.Detail)
	if s.Kind == Wait {
		drawn.Name, drawn.Cat = s.waitName(), "wait"
		drawn.Args["class"], drawn.Args["kind"] = s.What, s.Name
		addText(drawn.Args, "ended_by", s.Outcome)
	} else {
		drawn.Name, drawn.Cat = "attempt "+number(max(int(s.Attempt), 1)), "attempt"
		drawn.Args["attempt"] = s.Attempt
		if !s.Open {
			drawn.Name += ": " + s.Outcome
			drawn.Args["verdict"] = s.Outcome
		}
		if s.Outcome == string(lock.VerdictFailed) {
			drawn.Color = traceevent.ColorFailed
		}
	}
	if s.Open {
		drawn.Name += " (unfinished)"
		drawn.Args["unfinished"] = true
	}
	return drawn
}

func (d *drawing) node(name string) *traceevent.Lanes {
	if d.nodes == nil {
		d.nodes = d.trace.Process(d.title+": nodes", "commands that ended")
	}
	lanes := d.lanes[name]
	if lanes == nil {
		nodes, shown, order := d.nodes, text.Name(name), len(d.lanes)
		lanes = traceevent.NewLanes(func(n int) *traceevent.Thread { return nodes.Thread(numbered(shown, n), order) })
		d.lanes[name] = lanes
	}
	return lanes
}

// drawVotes draws the commands of nodes.
func (d *drawing) drawVotes() {
	var votes []*Event
	for i := range d.Events {
		if d.Events[i].Kind == Vote {
			votes = append(votes, &d.Events[i])
		}
	}
	slices.SortStableFunc(votes, func(x, y *Event) int {
		return cmp.Or(cmp.Compare(x.Start, y.Start), cmp.Compare(x.Name, y.Name))
	})
	for _, name := range nodesOf(votes) {
		d.node(name)
	}
	for _, e := range votes {
		args := traceevent.Args{"verdict": e.Outcome, "operation": e.What, "instance": e.Of.Instance}
		if e.Attempt > 0 {
			args["attempt"] = e.Attempt
		}
		addText(args, "error", e.Detail)
		s := traceevent.Slice{
			Name: e.What + ": " + words(e.Outcome), Cat: "vote", Start: e.Start, End: e.End, Args: args,
		}
		if e.Outcome == string(lock.VerdictFailed) {
			s.Color = traceevent.ColorFailed
		}
		d.node(e.Name).Take(e.Start, e.End).Slice(s)
	}
}

// nodesOf returns the names of nodes in order, so that rows do not depend on which answered first.
func nodesOf(votes []*Event) (all []string) {
	for _, e := range votes {
		all = append(all, e.Name)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// drawRestarts draws restarts of nodes on the first row of each.
func (d *drawing) drawRestarts() {
	for _, r := range d.Restarts {
		name := "restart"
		if r.Evicted {
			name = "keys evicted"
		}
		d.node(r.Node).First().Instant(traceevent.Instant{Name: name, Cat: "restart", At: r.At, Args: traceevent.Args{
			"votes": !r.Enforced, "locks_may_be_forgotten_for_seconds": r.Left.Seconds(),
		}})
	}
}
