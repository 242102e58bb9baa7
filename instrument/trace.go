package instrument

import (
	"context"

	"go.opentelemetry.io/otel/trace"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/decorate"
)

// newHooks reports what only the algorithm knows. No hook for what costs only
// when it is traced is there if nothing is traced.
func (l *Locker) newHooks() *lock.Trace {
	t := &lock.Trace{
		AcquireStart: l.onAcquireStart,
		AcquireEnd:   l.onAcquireEnd,
		AttemptEnd:   l.onAttemptEnd,
		NodeEnd:      l.onNodeEnd,
		NodeRestart:  l.onNodeRestart,
		Deadlock:     l.onDeadlock,
		WaitStart:    l.onWaitStart,
		RenewStart:   l.onRenewStart,
		RenewEnd:     l.onRenewEnd,
	}
	if l.tracing != nil {
		t.WaitEnd = l.onWaitEnd
		t.ReleaseEnd = l.onReleaseEnd
	}
	if l.tracing != nil && l.tracing.nodeSpans != NodeSpansNone {
		t.NodeStart = l.onNodeStart
	}
	return t
}

func (l *Locker) onAcquireStart(ctx context.Context, e lock.AcquireStart) context.Context {
	defer l.contain()
	l.metrics.setNodes(e.Backend, size{e.Nodes, e.Quorum})
	if c := l.callOf(ctx); c != nil {
		c.start(e)
		if c.span != nil {
			l.describeAcquire(c, e)
		}
	}
	return ctx
}

func (l *Locker) onAcquireEnd(ctx context.Context, e lock.AcquireEnd) {
	if !e.HandedOver {
		return
	}
	defer l.contain()
	if c := l.callOf(ctx); c != nil {
		c.series.handOvers.Inc()
		c.handedOver.Store(true)
		c.validity.Store(int64(e.Validity))
	}
}

func (l *Locker) onAttemptEnd(ctx context.Context, e lock.AttemptEnd) {
	defer l.contain()
	if c := l.callOf(ctx); c != nil {
		c.series.attempts.Inc()
		c.attempts.Add(1)
		c.votes.Store(int32(e.Granted))
		c.progress.Store(int32(progressOf(e)))
		if e.Err == nil {
			c.validity.Store(int64(e.Validity))
		}
	}
}

func (l *Locker) onNodeStart(ctx context.Context, e lock.NodeStart) (next context.Context) {
	next = ctx
	defer l.contain()
	return l.startNode(ctx, e)
}

func (l *Locker) onNodeEnd(ctx context.Context, e lock.NodeEnd) {
	defer l.contain()
	l.metrics.node(e.Backend, e.Node).done(e)
	if l.tracing != nil && l.tracing.nodeSpans != NodeSpansNone {
		l.endNode(ctx, e)
	}
	if e.Op != lock.OpAcquire && e.Op != lock.OpExtend {
		return
	}
	c := l.callOf(ctx)
	if c == nil {
		return
	}
	if e.Op == lock.OpAcquire {
		c.vote(e.Attempt, e.Verdict == lock.VerdictGranted)
	} else if e.Verdict == lock.VerdictRefused || e.Verdict == lock.VerdictRefilled {
		c.refusals.Add(1)
	}
}

func (l *Locker) onNodeRestart(ctx context.Context, e lock.NodeRestart) {
	defer l.contain()
	l.metrics.node(e.Backend, e.Node).restarted(e)
	l.logRestart(ctx, e)
}

func (l *Locker) onDeadlock(ctx context.Context, e lock.Deadlock) {
	defer l.contain()
	c := l.callOf(ctx)
	if c == nil {
		return
	}
	c.series.deadlocks.Inc()
	l.logDeadlock(c, e)
	if c.span != nil {
		c.span.SetAttributes(attrDeadlock.String(e.String()))
	}
}

func (l *Locker) onWaitStart(ctx context.Context, e lock.WaitStart) (next context.Context) {
	next = ctx
	defer l.contain()
	c := l.callOf(ctx)
	if c == nil {
		return ctx
	}
	c.armLongWait()
	if e.Kind == lock.WaitLocal {
		c.progress.Store(int32(behind))
	}
	if e.Blocker != nil {
		c.blocker.Store(e.Blocker)
		l.linkBlocker(c, e.Blocker)
	}
	l.waits.note(c, e)
	return l.startWait(ctx, c, e)
}

func (l *Locker) onWaitEnd(ctx context.Context, e lock.WaitEnd) {
	defer l.contain()
	l.endWait(ctx, e)
}

func (l *Locker) onRenewStart(ctx context.Context, e lock.RenewStart) (next context.Context) {
	next = ctx
	defer l.contain()
	c := l.callOf(ctx)
	if c == nil {
		return ctx
	}
	c.refusals.Store(0)
	c.renewing.Store(true)
	if c.sampled() && l.renewalOf(ctx) == nil {
		return l.startRenewal(ctx, c)
	}
	return ctx
}

func (l *Locker) onRenewEnd(ctx context.Context, e lock.RenewEnd) {
	defer l.contain()
	c := l.callOf(ctx)
	if c == nil {
		return
	}
	out := extendError
	switch e.Outcome {
	case lock.RenewDone:
		out = extendOK
		c.refusals.Store(0)
		c.renewing.Store(false)
	case lock.RenewLost:
		out = extendLost
	case lock.RenewOvertaken:
		out = extendOvertaken
	}
	c.series.extensions[out].Inc()
	if r := l.renewalOf(ctx); r != nil && r.span != nil && !r.byHand {
		l.endExtend(r, out, e.Left, e.Err)
	}
	if out == extendError {
		l.logRenewal(ctx, c, e)
	}
}

func (l *Locker) onReleaseEnd(ctx context.Context, e lock.ReleaseEnd) {
	defer l.contain()
	l.describeRelease(ctx, e)
}

// renewal is one round of renewal: the context of an Extend, or the value that
// finds the span of an automatic one.
type renewal struct {
	decorate.CallContext
	call   *call
	span   trace.Span // nil if the round is not traced
	byHand bool       // a caller's Extend, which ends the span itself
}

type renewalKey struct{ owner *Locker }

func newRenewal(ctx context.Context, c *call) *renewal {
	return &renewal{CallContext: decorate.CallContext{Context: ctx, Call: &c.Call}, call: c}
}

// Value implements context.Context.
func (r *renewal) Value(key any) any {
	if key == (renewalKey{r.call.owner}) {
		return r
	}
	return r.CallContext.Value(key)
}

// renewalOf is nil outside of a round that was announced.
func (l *Locker) renewalOf(ctx context.Context) *renewal {
	r, _ := ctx.Value(renewalKey{l}).(*renewal)
	return r
}
