package calls

import (
	"cmp"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/lockscope/lockscope/exporter/live/internal/text"
	"github.com/lockscope/lockscope/exporter/live/internal/timeline"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/records"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// Waiter is an unfinished call, with what it did at one instant.
type Waiter struct {
	*Lease
	View
}

// Progress is what the hooks reported of a call last.
type Progress struct {
	Backend  string // "" until a hook has said so
	Trace    trace.TraceID
	Doing    locktrace.Wait
	Attempts int
	Ahead    int
	LastErr  error           // of the last attempt, unless it was refused
	Blocker  *lock.HeldError // whom it waits for, or waited for before this attempt
	Full     time.Duration   // the most that was ever left of Blocker
	ToldAt   time.Duration   // of Blocker, after the call began
	AsOf     time.Duration   // after the call began: when the last attempt to be refused did
}

// origin is where a call was made, for which construct, and what its caller holds while it waits. It is separate
// because most calls have none.
type origin struct {
	CallSite string
	Kind     lock.Kind
	Slots    int // of the semaphore
	Holds    []lock.HeldLease
}

// Construct is what the lock is part of.
func (o origin) Construct() state.Construct {
	return state.Construct{Kind: string(o.Kind), Slots: o.Slots}
}

// StandsBy reports whether the call is a candidate for an election. In a healthy fleet it stays one for days, so it
// counts in no wait, charges nobody, and is not among the slowest.
func (o *origin) StandsBy() bool { return o != nil && o.Kind == lock.KindElection }

// Record is what a record of the call says of its construct.
func (o origin) Record() lock.Holder { return lock.Holder{Kind: o.Kind, Slots: o.Slots} }

// View is what a waiter does at one instant.
type View struct {
	Progress
	origin
	Hooked bool
	Class  locktrace.Wait // why it waits; "" if no hook has said so
}

func (c *Call) view() (v View) {
	class, _ := c.clock.Class()
	if v.Hooked = c.Hooked(); v.Hooked {
		v.Class = class
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	v.Progress, v.origin = c.Progress, c.from()
	return v
}

// unhindered is how long a first attempt may take before it counts as a wait.
const unhindered = 100 * time.Millisecond

// ID is what the waiter wanted at that instant.
func (w *Waiter) ID() text.ID { return text.ID{Backend: w.Backend, Resource: w.resource} }

// Waits is false for a call that has just started.
func (w *Waiter) Waits(now time.Time) bool {
	return w.Doing != doingAttempt || w.Blocker != nil || w.Attempts > 1 || w.LastErr != nil ||
		w.Waited(now) >= unhindered
}

// RefusedAt is when the last attempt to be refused began.
func (w *Waiter) RefusedAt() time.Time { return w.Began.Add(w.AsOf) }

// Waited is how long the call has waited.
func (w *Waiter) Waited(now time.Time) time.Duration { return max(now.Sub(w.Began), 0) }

// Tell describes the waiter without its blocker.
func (w *Waiter) Tell(now time.Time) state.Waiter {
	t := state.Waiter{
		Resource: text.Resource(w.resource), Backend: text.Name(w.Backend),
		Instance: w.Owner.Instance, For: w.Waited(now).Seconds(), Kind: cmp.Or(string(w.Doing), timeline.KindAttempt),
		Class: string(w.Class), Attempts: w.Attempts, Ahead: w.Ahead, CallSite: text.Name(w.CallSite),
		TraceID: text.TraceID(w.Trace),
	}
	for _, h := range w.Holds[:min(len(w.Holds), records.MaxHolds)] {
		t.Holds = append(t.Holds, w.heldText(h))
	}
	if w.LastErr != nil {
		t.Error = text.Error(w.LastErr)
	}
	return t
}

// heldText names what the caller of a waiter holds, with its set of nodes if that is another one.
func (w *Waiter) heldText(h lock.HeldLease) string {
	name := text.Resource(h.Resource)
	if h.Backend != w.Backend {
		name += " (" + text.Name(h.Backend) + ")"
	}
	return name
}
