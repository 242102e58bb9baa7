package metrics

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"github.com/lockscope/lockscope/instrument/internal/outcome"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// Call is one Acquire and its lease: see [Metrics.Begin]. It must not be copied.
type Call struct {
	entry
	series *series
	line   *line // while it waits for its turn in this process; guarded by the mutex of the lines

	nodes, quorum atomic.Int32 // zero if no hook has been called
	ballot        atomic.Uint64
	renewing      atomic.Bool  // a renewal is under way, or the last one failed
	refusals      atomic.Int32 // nodes that said no to the renewal under way
	fenceRead     atomic.Bool
	polled        atomic.Bool  // the last wait for a holder ended with a poll
	unrenewed     atomic.Int64 // TTL of a lease that nobody renews; 0 if it is renewed
	lostAt        atomic.Int64 // when the lease was lost, since began; 0 if it was not
}

// Resource is the name of the requested resource.
func (c *Call) Resource() string { return c.resource }

// Name is the name of the resource of the lease or, before there is one, of the requested one.
func (c *Call) Name() string { return c.name() }

// Got says that the lease is on another slot than the requested one. Call it before Acquired.
func (c *Call) Got(resource string) { c.got.Store(&resource) }

// Label is the label value of the resource.
func (c *Call) Label() string { return c.series.label }

// Began is when the call began.
func (c *Call) Began() time.Time { return c.began }

// HeldFor is how long the lease has been held, since it was acquired.
func (c *Call) HeldFor() time.Duration { return time.Since(c.began) - c.waited }

// HeldHere returns since when a lease of these metrics has held the requested resource, on the same nodes.
func (c *Call) HeldHere() (since time.Time, ok bool) {
	return c.series.held.of(c.series.waiting.asked(&c.entry))
}

// Start records how many nodes the call asks. Without this hook the classes of its waits stay unknown.
func (c *Call) Start(e locktrace.AcquireStart) {
	c.clock.Start(c.began)
	c.series.waiting.asks(&c.entry, e.Backend.Keyspace)
	c.nodes.Store(int32(e.Nodes))
	c.quorum.Store(int32(e.Quorum))
	if e.Options.NoRenew {
		c.unrenewed.Store(int64(e.Options.TTL))
	}
	if e.Options.Kind != "" {
		c.begin(e.Resource, e.Options)
	}
}

// HandedOver counts a call that got the lock from another call of its process.
func (c *Call) HandedOver() { c.series.handOvers.Inc() }

// AttemptEnd counts a round of voting.
func (c *Call) AttemptEnd(e locktrace.AttemptEnd) {
	c.series.attempts.Inc()
	c.progress.Store(int32(progressOf(e)))
}

// WaitStart records what the call waits for.
func (c *Call) WaitStart(e locktrace.WaitStart) {
	now := time.Now()
	if e.Kind == locktrace.WaitLocal {
		c.progress.Store(int32(behind))
	}
	if p := c.part.Load(); p != nil {
		p.waits(e.Class(), e.Blocker)
	}
	if e.Kind == locktrace.WaitLocal && e.Front != nil {
		c.series.charge(c.clock.WaitInLine(now, e))
		c.series.lines.join(c, now, e.Front)
		return
	}
	c.series.charge(c.clock.WaitStart(now, e))
	c.series.lines.look(c.resource, now)
}

// WaitEnd records that the call makes another attempt, or has been handed the lock.
func (c *Call) WaitEnd(e locktrace.WaitEnd) {
	now := time.Now()
	c.polled.Store(e.Kind == locktrace.WaitHolder && !e.Named && e.Err == nil)
	c.series.charge(c.clock.WaitEnd(now))
	if !c.series.lines.leave(c, now) {
		c.series.lines.look(c.resource, now)
	}
}

// LongWait counts a wait that has become long.
func (c *Call) LongWait() { c.series.longWait.Inc() }

// Deadlock counts a cycle that the call closed.
func (c *Call) Deadlock() { c.series.deadlocks.Inc() }

// NodeEnd counts a node's answer in a round of the call, or of the renewal of its lease.
func (c *Call) NodeEnd(e locktrace.NodeEnd) {
	switch {
	case e.Op == lock.OpAcquire:
		c.vote(e.Attempt, e.Verdict == lock.VerdictGranted)
	case e.Op == lock.OpExtend && (e.Verdict == lock.VerdictRefused || e.Verdict == lock.VerdictRefilled):
		c.refusals.Add(1)
	}
}

// A ballot counts the votes of one attempt, those that come too late to decide
// included: its number, and how many nodes have answered and granted.
const (
	ballotAttempt  = 32 // bits by which it is shifted
	ballotAnswered = 16
	ballotMask     = 1<<ballotAnswered - 1
)

// vote counts one vote. The margin is known when every node has answered. A set of one or two nodes has none to lose.
func (c *Call) vote(attempt int, granted bool) {
	if c.nodes.Load() <= c.quorum.Load() {
		return
	}
	for {
		old := c.ballot.Load()
		ballot, current := old, int(old>>ballotAttempt)
		switch {
		case attempt < current:
			return
		case attempt > current:
			ballot = uint64(attempt) << ballotAttempt
		}
		ballot += 1 << ballotAnswered
		if granted {
			ballot++
		}
		if !c.ballot.CompareAndSwap(old, ballot) {
			continue
		}
		answered, margin := int32(ballot>>ballotAnswered&ballotMask), int32(ballot&ballotMask)-c.quorum.Load()
		if answered == c.nodes.Load() && margin >= 0 {
			c.series.margin.Observe(float64(margin))
		}
		return
	}
}

// Returned ends the wait: Acquire has returned, or panicked.
func (c *Call) Returned() {
	now := time.Now()
	c.waited = now.Sub(c.began)
	c.series.waiting.remove(&c.entry)
	c.series.lines.leave(c, now)
	c.series.charge(c.clock.End(now))
}

// Abandoned ends a call that returned nothing.
func (c *Call) Abandoned() { c.series.done() }

// Acquired counts a success: a lease that is held until Ended. sc is that of the span in which it was acquired.
func (c *Call) Acquired(validity time.Duration, sc trace.SpanContext) {
	c.series.lines.look(c.resource, c.acquired())
	c.series.outcomes[outcome.Acquired].Inc()
	if c.polled.Load() {
		c.series.polled.Inc()
	}
	c.series.held.add(&c.entry)
	c.series.validity.Observe(max(0, validity.Seconds()))
	observe(c.series.wait, c.waited, sc)
}

// Failed counts the end of a call without a lease, and as a failure if counts says so.
func (c *Call) Failed(out outcome.Acquisition, counts bool, sc trace.SpanContext) {
	c.series.outcomes[out].Inc()
	if counts {
		c.series.failures.Inc()
	}
	if p := c.part.Load(); p != nil {
		p.failed(out)
	}
	observe(c.series.wait, c.waited, sc)
	c.series.done()
}

// RenewStart begins a round of renewal.
func (c *Call) RenewStart() {
	c.refusals.Store(0)
	c.renewing.Store(true)
}

// RenewEnd counts the outcome of a round of renewal.
func (c *Call) RenewEnd(out outcome.Extension) {
	if out == outcome.Extended {
		c.refusals.Store(0)
		c.renewing.Store(false)
	}
	c.Extended(out)
}

// Extended counts a round that no hook reported.
func (c *Call) Extended(out outcome.Extension) { c.series.extensions[out].Inc() }

// ReleaseFailed counts a release that found the lease gone, or could not confirm the release.
func (c *Call) ReleaseFailed() { c.series.releaseFailures.Inc() }

// Ended counts the end of the hold, with its span sc, and reports whether the lease was lost.
func (c *Call) Ended(cause error, sc trace.SpanContext) (why outcome.Loss, lost bool) {
	defer c.series.done()
	c.series.held.remove(&c.entry)
	observe(c.series.hold, c.HeldFor(), sc)
	if p := c.part.Load(); p != nil {
		p.end(cause)
	}
	switch {
	case errors.Is(cause, lock.ErrLost):
		why = c.lossReason()
	case errors.Is(cause, lock.ErrMaxHold):
		why = outcome.MaxHold
	default:
		return why, false
	}
	c.series.lost[why].Inc()
	c.lostAt.Store(int64(max(time.Since(c.began), 1)))
	return why, true
}

// lossReason says why a lease was lost, as far as the renewals show.
func (c *Call) lossReason() outcome.Loss {
	switch {
	case c.nodes.Load() > 0 && c.refusals.Load() > c.nodes.Load()-c.quorum.Load():
		return outcome.TakenOver
	case c.renewing.Load():
		return outcome.ExtendFailed
	default:
		return outcome.Expired
	}
}

// observe adds an exemplar only if its trace is kept, so that the link works.
func observe(o prometheus.Observer, d time.Duration, sc trace.SpanContext) {
	if sc.IsSampled() && sc.IsValid() {
		if e, ok := o.(prometheus.ExemplarObserver); ok {
			ids := prometheus.Labels{"trace_id": sc.TraceID().String(), "span_id": sc.SpanID().String()}
			e.ObserveWithExemplar(d.Seconds(), ids)
			return
		}
	}
	o.Observe(d.Seconds())
}
