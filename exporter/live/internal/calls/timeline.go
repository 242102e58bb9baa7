package calls

import (
	"context"
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/names"
	"github.com/lockscope/lockscope/exporter/live/internal/slowest"
	"github.com/lockscope/lockscope/exporter/live/internal/text"
	"github.com/lockscope/lockscope/exporter/live/internal/timeline"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// recording is where events of a call are recorded, and what all of them share.
type recording struct {
	track *timeline.Track // nil if they are not
	of    *timeline.Caller
}

func (c *Call) recording(now time.Time) recording {
	r := c.owner.Records.Timeline
	if r.Empty() {
		return recording{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.track
	if t == nil {
		t = r.Find(names.ID{Backend: c.backend, Resource: c.resource}, now)
	}
	if t == nil {
		return recording{}
	}
	return recording{t, c.shared()}
}

// add records a call that has ended.
func (r recording) add(trail *slowest.Ended, ended slowest.Call) {
	if r.track == nil {
		return
	}
	steps, skipped := trail.Steps()
	r.track.AddCall(timeline.Done{
		Of: r.of, Began: ended.Began, Ended: ended.Ended, Err: ended.Err, Skipped: skipped,
	}, steps)
}

// callerOf returns what all events of the call share.
func (c *Call) callerOf() *timeline.Caller {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shared()
}

// shared requires that mu is held.
func (c *Call) shared() *timeline.Caller {
	if c.caller == nil {
		c.caller = &timeline.Caller{
			Instance: c.owner.Instance, CallSite: text.Name(c.from().CallSite), Trace: c.trace,
		}
	}
	return c.caller
}

// recordLate records a command of a call that has ended, or of its lease.
func (c *Call) recordLate(now time.Time, s slowest.Step) {
	if to := c.recording(now); to.track != nil {
		to.track.AddStep(to.of, c.began, s)
	}
}

// Renewed records a round of renewal, and counts it if it was successful.
func (c *Call) Renewed(e locktrace.RenewEnd) {
	if e.Outcome == locktrace.RenewDone {
		c.Extended()
	}
	now := time.Now()
	if to := c.recording(now); to.track != nil {
		to.track.AddRenewal(to.of, now, e)
	}
}

// recordLease records a lease that ends now.
func (m *Lease) recordLease() {
	if m.owner.Records.Timeline.Empty() {
		return
	}
	now := time.Now()
	if to := m.recording(now); to.track != nil {
		to.track.AddLease(to.of, m.heldAt, now, m.Fence(), context.Cause(m.Next().Context()))
	}
}

// TimelineNow returns the events of the calls and leases of a resource that have not ended: of all leases, and of the
// calls that have waited longest, at most limit. omitted is how many others there are.
func (r *Register) TimelineNow(t *timeline.Track, of names.ID, now time.Time, limit int) (all []timeline.Event,
	omitted int) {
	waiting, held := r.shardOf(of.Resource).of()
	for _, m := range held {
		if m.ID() == of && m.Next().Context().Err() == nil {
			all = append(all, t.LookLease(m.callerOf(), m.heldAt, now, m.Fence()))
		}
	}
	for _, m := range oldest(waiting, func(m *Lease) time.Time { return m.began }) {
		switch {
		case m.ID() != of:
		case limit == 0:
			omitted++
		default:
			limit--
			all = append(all, m.look(t, now)...)
		}
	}
	return all, omitted
}

// look returns the events of a call under way.
func (c *Call) look(t *timeline.Track, now time.Time) []timeline.Event {
	class, blocker := c.clock.Class()
	c.mu.Lock()
	steps, skipped := c.trail.Steps()
	d := timeline.Done{Of: c.shared(), Began: c.began, Ended: now, Open: true, Skipped: skipped}
	current := slowest.Step{Kind: slowest.KindAttempt, Attempt: c.attempts, Start: c.tried}
	if c.doing != doingAttempt {
		current = slowest.Step{
			Kind: slowest.KindWait, Name: string(c.doing), Class: class, Attempt: c.attempts, Start: c.toldAt,
			Blocker: blocker,
		}
	}
	c.mu.Unlock()
	current.Took = max(now.Sub(c.began)-current.Start, 0)
	return t.Look(d, steps, current)
}
