// Package calls has the unfinished calls of Acquire and their leases: what each does, as the hooks of an engine
// report it, all of them at one instant, and who held what they waited for.
package calls

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/lockscope/lockscope/exporter/live/internal/nodes"
	"github.com/lockscope/lockscope/exporter/live/internal/text"
	"github.com/lockscope/lockscope/exporter/live/internal/timeline"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/decorate"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// doingAttempt stands beside the kinds of wait.
const doingAttempt locktrace.Wait = ""

// Call is one Acquire and its lease, as the hooks know it. It is also the context that Acquire passes on: the
// caller's, with the hooks added.
type Call struct {
	decorate.Call
	Owner    *Owner // the locker
	shard    *shard
	resource string                 // that was asked for
	got      atomic.Pointer[string] // another slot of the same semaphore, which the lease is on; nil otherwise
	Began    time.Time
	clock    decorate.WaitClock

	mu sync.Mutex
	Progress
	tried    time.Duration // after Began: when the last attempt did
	origin   *origin       // nil if nothing is known of it
	known    nodes.Set     // nodes that know the lock
	noRenew  bool          // its lease is not renewed automatically
	extends  int
	extended time.Duration // after Began: the last time
	trail    timeline.Trail
	waited   *waited          // nil until its first wait
	track    *timeline.Track  // nil unless the call waits
	caller   *timeline.Caller // nil unless an event of the call has been recorded
}

// Of returns nil outside the calls of a layer.
func Of(ctx context.Context, l *decorate.Layer) *Call {
	c, _ := l.Find(ctx).(*Call)
	return c
}

// Wants is the name of the resource, as the caller gave it.
func (c *Call) Wants() string { return c.resource }

// ID returns the resource and, once the engine has reported it, the backend.
func (c *Call) ID() text.ID {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.id()
}

// id is ID. mu must be held.
func (c *Call) id() text.ID { return text.ID{Backend: c.Backend, Resource: c.name()} }

// wants is the resource that was asked for. mu must be held.
func (c *Call) wants() text.ID { return text.ID{Backend: c.Backend, Resource: c.resource} }

// name is that of the resource that was asked for or, once it is held, of the one that is.
func (c *Call) name() string {
	if got := c.got.Load(); got != nil {
		return *got
	}
	return c.resource
}

// ReadTrace finds the span around the call: the caller's at first, then that of a decorator inside, if there is one.
func (c *Call) ReadTrace(ctx context.Context) {
	defer text.Contain()
	if sc := trace.SpanContextFromContext(ctx); sc.HasTraceID() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.Trace = sc.TraceID()
	}
}

// Place records the set of nodes, where the call was made and for which construct, what its caller holds, and whether
// the lease will be renewed.
func (c *Call) Place(backend string, e locktrace.AcquireStart, holds []lock.HeldLease) {
	kind, slots := e.Options.Kind, e.Options.Slots
	if !kind.Valid() {
		kind = ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Backend, c.noRenew = backend, e.Options.NoRenew
	if e.CallSite != "" || len(holds) > 0 || kind != "" {
		c.origin = &origin{e.CallSite, kind, max(slots, 0), holds}
	}
}

// AttemptStart begins a round of voting.
func (c *Call) AttemptStart(e locktrace.AttemptStart) {
	c.mu.Lock()
	c.Doing, c.Attempts, c.known, c.tried = doingAttempt, e.Attempt, nodes.Set{}, time.Since(c.Began)
	now, again := c.Began.Add(c.tried), c.waited != nil
	c.mu.Unlock()
	if again {
		c.shard.look(c.ID, now)
	}
}

// AttemptEnd ends it.
func (c *Call) AttemptEnd(e locktrace.AttemptEnd) {
	now := time.Now()
	held := heldBy(e.Err)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.LastErr = e.Err; held != nil {
		// Not by what it took, as the step below: told late, for want of a processor, the refusal would seem to be
		// younger than a lease that was granted meanwhile.
		c.LastErr, c.AsOf = nil, c.tried
		c.behind(held, now)
	}
	c.record(timeline.Step{
		Kind: timeline.Attempt, Attempt: e.Attempt, Start: c.startOf(now, e.Took), Took: e.Took,
		Outcome: attemptOutcome(e.Err, held), Err: e.Err, Blocker: held,
	})
}

// heldBy returns the holder that refused an attempt, or nil if it failed for another reason.
func heldBy(err error) *lock.HeldError {
	held, ok := errors.AsType[*lock.HeldError](err)
	if !ok || lock.ReasonOf(err) != lock.ReasonHeld {
		return nil
	}
	return held
}

func attemptOutcome(err error, held *lock.HeldError) lock.Verdict {
	switch {
	case err == nil:
		return lock.VerdictGranted
	case held != nil:
		return lock.VerdictRefused
	default:
		return lock.VerdictFailed
	}
}

// NodeEnd records the end of a command on the node with this index.
func (c *Call) NodeEnd(now time.Time, node int, e locktrace.NodeEnd) {
	s := timeline.Step{
		Kind: timeline.Vote, Attempt: e.Attempt, Start: c.startOf(now, e.Took), Took: e.Took,
		Name: e.Node, Outcome: e.Verdict, Err: e.Err, Op: e.Op,
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	late := s.Outcome != lock.VerdictGranted
	switch s.Op {
	case lock.OpAcquire, lock.OpRaise:
		if s.Op == lock.OpAcquire && s.Attempt == c.Attempts {
			c.known.Note(node, s.Outcome)
		}
		c.record(s)
		late = c.trail.Over()
	case lock.OpExtend:
		c.known.Note(node, s.Outcome)
	case lock.OpRelease:
	default:
		return
	}
	if !late {
		return // it is a step of a call under way, or of no interest
	}
	if t, of := c.recording(now); t != nil {
		t.AddStep(of, c.Began, s)
	}
}

// WaitStart begins a wait between attempts.
func (c *Call) WaitStart(e locktrace.WaitStart) {
	now := time.Now()
	stack := c.takeStack(now)
	c.lockBoth()
	defer c.unlockBoth()
	c.Doing, c.Ahead = e.Kind, e.Ahead
	c.behind(e.Blocker, now)
	c.track = c.Owner.Records.Timeline.Contend(c.wants(), now)
	c.spendUntil(now, e, stack)
	if e.Kind != locktrace.WaitBackingOff {
		c.contend(e, now)
	}
}

// behind records the holder that a refusal named. mu must be held.
func (c *Call) behind(held *lock.HeldError, now time.Time) {
	switch {
	case held == nil:
		c.Full = 0
	case c.Blocker == nil || !sameHolder(held, c.Blocker):
		c.Full = held.Remaining
	default:
		c.Full = max(c.Full, held.Remaining)
	}
	c.Blocker, c.ToldAt = held, now.Sub(c.Began)
}

func sameHolder(a, b *lock.HeldError) bool {
	return a.Holder.Instance == b.Holder.Instance && a.Holder.Since.Equal(b.Holder.Since)
}

// contend records a wait, and its blocker if the call was refused. Both mutexes must be held.
func (c *Call) contend(e locktrace.WaitStart, now time.Time) {
	h := c.shard.histories.of(c.id())
	h.waited = now
	if by := e.Blocker; e.Kind == locktrace.WaitHolder && by != nil && by.Holder.Instance != "" {
		h.addTold(by, !c.Owner.Records.Instances.Has(by.Holder.Instance), now)
	}
}

// WaitEnd ends a wait.
func (c *Call) WaitEnd(e locktrace.WaitEnd) {
	now := time.Now()
	class, _ := c.clock.Class()
	outcome := waitOutcome(e)
	c.lockBoth()
	defer c.unlockBoth()
	c.spendWait(now)
	if e.Kind == locktrace.WaitHolder {
		c.contend(e.WaitStart, now) // until now it was held
	}
	c.Ahead = 0
	c.record(timeline.Step{
		Kind: timeline.Wait, Attempt: c.Attempts, Start: c.startOf(now, e.Took), Took: e.Took,
		Name: string(e.Kind), Class: class, Outcome: outcome, Err: e.Err, Blocker: e.Blocker,
	})
}

// waitOutcome says what ended a wait: somebody, its time limit, or the reason why the whole call ends.
func waitOutcome(e locktrace.WaitEnd) lock.Verdict {
	switch {
	case e.Err != nil:
		return lock.Verdict(lock.ReasonOf(e.Err))
	case e.HandedOver:
		return timeline.HandedOver
	case e.Named || e.Kind == locktrace.WaitLocal:
		return timeline.Woken
	default:
		return timeline.Elapsed
	}
}

// from is where the call was made, if that is known. mu must be held.
func (c *Call) from() origin {
	if c.origin == nil {
		return origin{}
	}
	return *c.origin
}

// startOf is when something began that has taken that long by now.
func (c *Call) startOf(now time.Time, took time.Duration) time.Duration {
	return max(now.Sub(c.Began)-took, 0)
}
