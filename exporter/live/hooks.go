package live

import (
	"context"
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/calls"
	"github.com/lockscope/lockscope/exporter/live/internal/graph"
	"github.com/lockscope/lockscope/exporter/live/internal/nodes"
	"github.com/lockscope/lockscope/exporter/live/internal/sessions"
	"github.com/lockscope/lockscope/exporter/live/internal/text"
	"github.com/lockscope/lockscope/exporter/live/internal/timeline"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// written is what the lockers of a Board write, and what a State is read from.
type written struct {
	calls     *calls.Register
	nodes     nodes.Nodes
	deadlocks graph.Deadlocks
	sets      sets
	sampler   *sessions.Sampler
}

// hooks record the events of the engine of one locker.
type hooks struct {
	*written
	owner *calls.Owner
}

func (h *hooks) trace() *locktrace.Trace {
	return &locktrace.Trace{
		AcquireStart: h.onAcquireStart,
		AttemptStart: h.onAttemptStart,
		AttemptEnd:   h.onAttemptEnd,
		NodeEnd:      h.onNodeEnd,
		NodeRestart:  h.onNodeRestart,
		Deadlock:     h.onDeadlock,
		WaitStart:    h.onWaitStart,
		WaitEnd:      h.onWaitEnd,
		RenewEnd:     h.onRenewEnd,
	}
}

func (h *hooks) callOf(ctx context.Context) *calls.Call { return calls.Of(ctx, h.owner.Layer) }

func (h *hooks) onAcquireStart(ctx context.Context, e locktrace.AcquireStart) context.Context {
	if c := h.callOf(ctx); c != nil {
		c.ReadTrace(ctx)
		c.Place(h.sets.name(e.Backend.Name, e.Backend.Keyspace), e, h.sets.held(e.Holds))
	}
	return ctx
}

func (h *hooks) onAttemptStart(ctx context.Context, e locktrace.AttemptStart) context.Context {
	if c := h.callOf(ctx); c != nil {
		c.AttemptStart(e)
	}
	return ctx
}

func (h *hooks) onAttemptEnd(ctx context.Context, e locktrace.AttemptEnd) {
	defer text.Contain()
	if c := h.callOf(ctx); c != nil {
		c.AttemptEnd(e)
	}
}

func (h *hooks) onNodeEnd(ctx context.Context, e locktrace.NodeEnd) {
	defer text.Contain()
	now := time.Now()
	node := h.nodes.Done(now, e)
	if c := h.callOf(ctx); c != nil {
		c.NodeEnd(now, node, e)
	}
}

func (h *hooks) onNodeRestart(_ context.Context, e locktrace.NodeRestart) {
	defer text.Contain()
	now := time.Now()
	h.calls.Timeline.Restarted(now, timeline.Restart{
		Backend: h.sets.name(e.Backend.Name, e.Backend.Keyspace), Node: text.Name(e.Node), Enforced: e.Enforced,
		Evicted: e.Evicted, Left: e.Left,
	})
	h.nodes.Restarted(now, e)
}

func (h *hooks) onDeadlock(_ context.Context, d lock.DeadlockError) {
	defer text.Contain()
	h.deadlocks.Tell(lock.DeadlockError{Cycle: h.sets.held(d.Cycle)}, time.Now())
}

func (h *hooks) onWaitStart(ctx context.Context, e locktrace.WaitStart) context.Context {
	if c := h.callOf(ctx); c != nil {
		c.WaitStart(e)
	}
	return ctx
}

func (h *hooks) onWaitEnd(ctx context.Context, e locktrace.WaitEnd) {
	defer text.Contain()
	if c := h.callOf(ctx); c != nil {
		c.WaitEnd(e)
	}
}

func (h *hooks) onRenewEnd(ctx context.Context, e locktrace.RenewEnd) {
	defer text.Contain()
	if c := h.callOf(ctx); c != nil {
		c.Renewed(e)
	}
}
