package instrument

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/lockscope/lockscope/instrument/internal/logs"
	"github.com/lockscope/lockscope/instrument/internal/longwait"
	"github.com/lockscope/lockscope/instrument/internal/metrics"
	"github.com/lockscope/lockscope/instrument/internal/outcome"
	"github.com/lockscope/lockscope/instrument/internal/spans"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/decorate"
)

// call is one Acquire and its lease, as the hooks know it. It is also the context that Acquire passes on: the
// caller's, with the span, the traceparent and the hooks added.
type call struct {
	decorate.Call
	*observers

	counted metrics.Call
	traced  spans.Call
	waiting longwait.Wait
	told    logs.Lease
	kind    lock.Kind // what it is part of; set by the first hook

	validity atomic.Int64                   // of the attempt that won; zero if no hook reported it
	blocker  atomic.Pointer[lock.HeldError] // the last one reported
}

// callOf returns nil outside the calls of a layer.
func callOf(ctx context.Context, l *decorate.Layer) *call {
	c, _ := l.Find(ctx).(*call)
	return c
}

// spanContext is that of the acquire span, or of the caller's span if tracing is off.
func (c *call) spanContext() trace.SpanContext { return c.traced.SpanContext(c.Context) }

// subject identifies the call in log records.
func (c *call) subject() logs.Subject {
	return logs.Subject{Context: c, Resource: c.counted.Name(), Label: c.counted.Label(), Kind: c.kind}
}

// endWait ends all waits: Acquire is about to return.
func (c *call) endWait(out outcome.Acquisition) {
	if c.waits.End(&c.waiting, c.counted.Resource()) && c.kind != lock.KindElection {
		c.log.WaitedLong(c.subject(), time.Since(c.counted.Began()), out)
	}
}

// failed measures a failure. A NoWait call that finds the lock held is not a failure.
func (c *call) failed(err error, opts []lock.AcquireOption) {
	out := outcome.OfAcquire(err)
	failure := out != outcome.Contended || !c.NoWait(opts)
	c.counted.Failed(out, failure, c.spanContext())
	c.endWait(out)
	c.spans.EndAcquire(&c.traced, spans.Acquired{
		Outcome: out, Err: err, Failure: failure, Hooked: c.Hooked(),
	})
	if quorum, ok := errors.AsType[*lock.QuorumError](err); ok {
		c.log.NoQuorum(c.subject(), quorum)
	}
}

// abandoned ends a call that does not return because its Locker panics or ends its goroutine.
func (c *call) abandoned() {
	c.counted.Returned()
	c.endWait(outcome.Failed)
	c.counted.Abandoned()
	c.traced.Abandon()
}

// WaitsLong implements longwait.Waiter. A candidate of an election stands by for as long as another process leads.
func (c *call) WaitsLong(again bool) {
	defer c.panics.Contain()
	if !again {
		c.counted.LongWait()
	} else if c.kind == lock.KindElection {
		return
	}
	w := logs.LongWait{
		Waited: time.Since(c.counted.Began()), Others: c.waits.State(c.counted.Resource()), Blocker: c.blocker.Load(),
	}
	w.HeldSince, w.HeldHere = c.counted.HeldHere()
	c.log.LongWait(c.subject(), w)
}
