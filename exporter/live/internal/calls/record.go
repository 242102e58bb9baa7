package calls

import (
	"context"
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/text"
	"github.com/lockscope/lockscope/exporter/live/internal/timeline"
	"github.com/lockscope/lockscope/exporter/live/internal/waits"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// failure is the outcome of a call that acquired nothing.
func (c *Call) failure(err error, opts []lock.AcquireOption) (outcome waits.Outcome) {
	outcome = waits.Failed
	defer text.Contain()
	if lock.ReasonOf(err) == lock.ReasonHeld && c.NoWait(opts) {
		outcome = waits.Missed
	}
	return outcome
}

// finish hands a call that ends to all that records it, and returns when that was.
func (c *Call) finish(err error, outcome waits.Outcome) time.Time {
	now := time.Now()
	r, took := c.Owner.Records, now.Sub(c.Began)
	d, track, standsBy, waited := c.end(now, err)
	if !standsBy {
		r.Waits.Record(now, took, outcome)
	}
	if track != nil {
		track.AddCall(d)
	}
	r.Slowest.Add(d) // until then, a hook may hold mu and wait for the trail
	if waited || took >= unhindered && !standsBy {
		c.spendRest(now, took)
	} else {
		c.clock.End(now)
	}
	return now
}

// end takes what is recorded of the call away from the hooks.
func (c *Call) end(now time.Time, err error) (d timeline.Done, track *timeline.Track, standsBy, waited bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	standsBy = c.origin.StandsBy()
	d = timeline.Done{ID: c.wants(), Trace: c.Trace, Began: c.Began, Ended: now, Err: err}
	track, d.Of = c.recording(now)
	c.track = nil // a lease may outlive its place on the timeline
	d.Trail = c.trail.End(!standsBy && c.Owner.Records.Slowest.Wants(now, now.Sub(c.Began)))
	return d, track, standsBy, c.waited != nil
}

// record adds a step that ends now. mu must be held.
func (c *Call) record(s timeline.Step) { c.Owner.Records.Slowest.Record(&c.trail, s) }

// recording returns where events of the call are recorded, and what all of them share; nil if they are not. mu must be
// held.
func (c *Call) recording(now time.Time) (t *timeline.Track, of *timeline.Caller) {
	if t = c.track; t == nil {
		t = c.Owner.Records.Timeline.Find(c.wants(), now)
	}
	if t != nil {
		of = c.shared()
	}
	return t, of
}

// shared requires that mu is held.
func (c *Call) shared() *timeline.Caller {
	if c.caller == nil {
		c.caller = &timeline.Caller{
			Instance: c.Owner.Instance, CallSite: text.Name(c.from().CallSite), Trace: c.Trace,
		}
	}
	return c.caller
}

// Renewed records a round of renewal, and counts it if it was successful.
func (c *Call) Renewed(e locktrace.RenewEnd) {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.Outcome == locktrace.RenewDone {
		c.extends, c.extended = c.extends+1, now.Sub(c.Began)
	}
	if t, of := c.recording(now); t != nil {
		t.AddRenewal(of, now, e)
	}
}

// recordLease records a lease that ends now.
func (m *Lease) recordLease() {
	if m.Owner.Records.Timeline.Empty() {
		return
	}
	now := time.Now()
	m.mu.Lock()
	t, of := m.recording(now)
	m.mu.Unlock()
	if t != nil {
		t.AddLease(of, m.HeldAt, now, m.Fence(), context.Cause(m.Next().Context()))
	}
}

// TimelineNow returns the events of the calls and leases of a resource that have not ended: of all leases, and of the
// calls that have waited longest, at most limit. omitted is how many others there are.
func (r *Register) TimelineNow(t *timeline.Track, of text.ID, now time.Time, limit int) (all []timeline.Event,
	omitted int) {
	waiting, held := r.shardOf(of.Resource).of()
	for _, m := range held {
		if m.ID() == of && m.Next().Context().Err() == nil {
			m.mu.Lock()
			by := m.shared()
			m.mu.Unlock()
			all = append(all, t.LookLease(by, m.HeldAt, now, m.Fence()))
		}
	}
	for _, m := range oldest(waiting, func(m *Lease) time.Time { return m.Began }) {
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
	d := timeline.Done{Of: c.shared(), Began: c.Began, Ended: now, Open: true, Trail: c.trail.Copy()}
	current := timeline.Step{Kind: timeline.Attempt, Attempt: c.Attempts, Start: c.tried}
	if c.Doing != doingAttempt {
		current = timeline.Step{
			Kind: timeline.Wait, Name: string(c.Doing), Class: class, Attempt: c.Attempts, Start: c.ToldAt,
			Blocker: blocker,
		}
	}
	c.mu.Unlock()
	current.Took = max(now.Sub(c.Began)-current.Start, 0)
	return t.Look(d, current)
}
