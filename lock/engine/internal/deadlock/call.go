// Package deadlock finds calls that wait for one another in a cycle: each waits for a resource that a lease holds, in
// whose context the next one waits.
package deadlock

import (
	"context"
	"slices"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// confirmAfter is how long a cycle must last to count: calls that are about to give up, or
// to release, are no deadlock.
const confirmAfter = 50 * time.Millisecond

// Call is a call that may wait, in the context of the leases that its caller holds.
type Call struct {
	leases   []*Lease                // that its caller holds: it adds an edge from each while it waits
	either   func() []*Resource      // any one that becomes free ends its wait; nil: only the one that it waits for does
	counts   func() bool             // nil: the call waits for the holders; else only while this is true
	notified chan lock.DeadlockError // of a cycle that this call is to break; nil if it did not ask to fail
	on       *Resource               // that it waits for
	cycle    []edge                  // that was there at the last look; nil if none was
	reported []edge                  // the last cycle that was
	confirm  *time.Timer             // fires when the cycle is to be looked at again
}

// NewCall makes a call in ctx. fails says that it asked to fail if it is part of a deadlock.
func NewCall(ctx context.Context, fails bool) (c Call) {
	if c.leases = Leases(ctx); len(c.leases) > 0 && fails {
		c.notified = make(chan lock.DeadlockError, 1)
	}
	return c
}

// WaitsForEither makes any of the resources end the wait of the call. They are looked up whenever somebody asks; nil
// stands for one that nobody here holds. Call it before Wait.
func (c *Call) WaitsForEither(either func() []*Resource) { c.either = either }

// WaitsWhile makes the call wait for the holders only while counts is true, such as a reader while a writer keeps it out.
// Call it before Wait.
func (c *Call) WaitsWhile(counts func() bool) { c.counts = counts }

// Leases are those that the caller holds.
func (c *Call) Leases() []*Lease { return c.leases }

// Wait adds the edges of a call that begins to wait, and looks for a cycle. End must follow.
// The last edge of a cycle is always one of these: a lease that has just been granted has
// no call waiting in its context. Only edges that do not always count may close a cycle later: their call looks at
// intervals.
func (c *Call) Wait(on *Resource) {
	if c.on != nil || len(c.leases) == 0 {
		return
	}
	c.on = on
	for _, l := range c.leases {
		l.add(edge{l, c, on})
	}
	if c.cycle = c.findCycle(); c.cycle != nil || c.counts != nil {
		c.confirm = time.NewTimer(confirmAfter)
	}
}

// End removes the edges, if there are any.
func (c *Call) End() {
	if c.on == nil {
		return
	}
	for _, l := range c.leases {
		l.remove(c)
	}
	if c.confirm != nil {
		c.confirm.Stop()
	}
	c.on, c.cycle, c.reported, c.confirm = nil, nil, nil, nil
}

// Suspects is when to look at a cycle again; nil if there is none.
func (c *Call) Suspects() <-chan time.Time {
	if c.confirm == nil {
		return nil
	}
	return c.confirm.C
}

// Notified has the deadlock that this call is to break by failing.
func (c *Call) Notified() <-chan lock.DeadlockError { return c.notified }

// Recheck reports the cycle if it is still there, and tells one of its calls that asked to
// fail: this one if it did. It looks again as long as there is a cycle: the wait may have closed several. A look finds one
// of them, and none of their other calls looks.
func (c *Call) Recheck(report func(lock.DeadlockError)) {
	before := c.cycle
	c.cycle = c.findCycle()
	if c.cycle != nil || c.counts != nil {
		c.confirm.Reset(confirmAfter)
	}
	if c.cycle == nil || !slices.Equal(c.cycle, before) || slices.Equal(c.cycle, c.reported) {
		return
	}
	c.reported = c.cycle
	var d lock.DeadlockError
	victim := c
	for _, e := range c.cycle {
		d.Cycle = append(d.Cycle, e.lease.of.Info())
		if victim.notified == nil {
			victim = e.call
		}
	}
	report(d)
	select {
	case victim.notified <- d: // nil if no call asked to fail
	default:
	}
}
