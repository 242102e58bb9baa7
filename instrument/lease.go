package instrument

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/decorate"
)

// lease measures a lock.Lease.
type lease struct {
	decorate.Lease
	call   call
	waited time.Duration // from call.began

	earlier, later *lease // in the list of the series
}

var (
	_ lock.Lease     = (*lease)(nil)
	_ decorate.Ender = (*lease)(nil)
)

// Extend implements lock.Lease. The round is counted by the hook if the Locker
// has hooks, like the rounds of automatic renewal.
func (m *lease) Extend(ctx context.Context) error {
	r := newRenewal(ctx, &m.call)
	r.byHand = true
	l := m.call.owner
	if m.call.traced() {
		l.startExtendByHand(r)
	}
	err := m.Next().Extend(r)
	if !m.call.Hooked() {
		m.call.series.extensions[extensionOf(err)].Inc()
	}
	if r.span != nil {
		l.endExtend(r, extensionOf(err), m.Remaining(), err)
	}
	return err
}

// Release implements lock.Lease.
func (m *lease) Release(ctx context.Context) error {
	if !m.StartRelease() {
		return m.Next().Release(ctx)
	}
	l := m.call.owner
	var span trace.Span
	switch {
	case m.call.traced():
		ctx, span = l.startRelease(ctx, m)
		ctx = &decorate.CallContext{Context: ctx, Call: &m.call.Call}
	case m.call.filtered():
		ctx = &decorate.CallContext{Context: ctx, Call: &m.call.Call}
	}
	err := m.Next().Release(ctx)
	if span != nil {
		l.endRelease(span, m.held(), err)
	}
	m.End(ctx)
	if err != nil {
		m.call.series.releaseFailures.Inc()
		l.logRelease(ctx, m, err)
	}
	return err
}

func (m *lease) held() time.Duration { return time.Since(m.call.began) - m.waited }

// Ended implements decorate.Ender: it ends the hold, with the release or before it with
// the lease's context.
func (m *lease) Ended(ctx context.Context, cause error) {
	defer m.call.owner.contain()
	s := m.call.series
	defer s.done()
	s.held.remove(m)
	observe(s.hold, m.held(), trace.SpanContextFromContext(ctx))
	switch {
	case errors.Is(cause, lock.ErrLost):
		m.lost(m.call.lossReason())
	case errors.Is(cause, lock.ErrMaxHold):
		m.lost(maxHold)
	}
}

func (m *lease) lost(why loss) {
	m.call.series.lost[why].Inc()
	m.call.owner.logLost(m, why)
}

// addsToCalls adds what calls add to their callers' contexts. Were it seen by those who
// hold a lease, the spans of what they do would have an ended one as parent.
func addsToCalls(ctx context.Context) context.Context {
	return trace.ContextWithSpan(lock.WithTraceparent(ctx, "hidden"), trace.SpanFromContext(ctx))
}
