package draw

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockscope/lockscope/exporter/internal/traceevent"
	"github.com/lockscope/lockscope/exporter/live/internal/text"
	"github.com/lockscope/lockscope/exporter/live/internal/timeline"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
)

const waitHolder = string(locktrace.WaitHolder)

// call is an Acquire with its attempts and waits.
type call struct {
	of         *timeline.Caller
	event      *timeline.Event // nil if it is not kept
	steps      []*step         // by start, one after the other
	start, end time.Duration
	thread     *traceevent.Thread
}

// step is an attempt or a wait, with the time in which it is drawn.
type step struct {
	*timeline.Event
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
		if s.Kind == timeline.Wait && !s.Open && s.Detail == "" {
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
		if e.Outcome != timeline.Acquired {
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
	if s.Kind == timeline.Wait {
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
