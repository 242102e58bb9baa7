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
	"github.com/lockscope/lockscope/lock/decorate"
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

// locker records on a Board what another Locker does, and the events of its engine.
type locker struct {
	*written
	next  lock.Locker
	owner *calls.Owner
}

var _ lock.Locker = (*locker)(nil)

func newLocker(w *written, next lock.Locker, instance string) *locker {
	w.calls.Instances.Add(instance)
	l := &locker{w, next, &calls.Owner{Instance: instance, Records: &w.calls.Records}}
	l.owner.Layer = decorate.NewLayer(&locktrace.Trace{
		AcquireStart: l.onAcquireStart,
		AttemptStart: onStart(l, (*calls.Call).AttemptStart),
		AttemptEnd:   onEnd(l, (*calls.Call).AttemptEnd),
		NodeEnd:      l.onNodeEnd,
		NodeRestart:  l.onNodeRestart,
		Deadlock:     l.onDeadlock,
		WaitStart:    onStart(l, (*calls.Call).WaitStart),
		WaitEnd:      onEnd(l, (*calls.Call).WaitEnd),
		RenewEnd:     onEnd(l, (*calls.Call).Renewed),
	})
	return l
}

// Acquire implements lock.Locker. It returns what the wrapped Locker returns, with a lease that is on the Board until
// its release or its end.
func (l *locker) Acquire(ctx context.Context, resource string, opts ...lock.AcquireOption) (lock.Lease, error) {
	m := l.calls.Begin(ctx, l.owner, resource)
	defer m.Abandoned()
	l.sampler.Touch()
	inner, err := l.next.Acquire(&m.Call, resource, opts...)
	if err != nil || inner == nil {
		m.Failed(err, opts)
		return inner, err
	}
	return m.Acquired(inner), nil
}

func (l *locker) callOf(ctx context.Context) *calls.Call { return calls.Of(ctx, l.owner.Layer) }

// onStart passes what begins in a call to that call.
func onStart[E any](l *locker, record func(*calls.Call, E)) func(context.Context, E) context.Context {
	return func(ctx context.Context, e E) context.Context {
		if c := l.callOf(ctx); c != nil {
			record(c, e)
		}
		return ctx
	}
}

// onEnd passes what ends in a call to that call.
func onEnd[E any](l *locker, record func(*calls.Call, E)) func(context.Context, E) {
	return func(ctx context.Context, e E) {
		defer text.Contain()
		if c := l.callOf(ctx); c != nil {
			record(c, e)
		}
	}
}

func (l *locker) onAcquireStart(ctx context.Context, e locktrace.AcquireStart) context.Context {
	if c := l.callOf(ctx); c != nil {
		c.ReadTrace(ctx)
		c.Place(l.sets.name(e.Backend.Name, e.Backend.Keyspace), e, l.sets.held(e.Holds))
	}
	return ctx
}

func (l *locker) onNodeEnd(ctx context.Context, e locktrace.NodeEnd) {
	defer text.Contain()
	e.Backend.Name = l.sets.name(e.Backend.Name, e.Backend.Keyspace)
	now := time.Now()
	node := l.nodes.Done(now, e)
	if c := l.callOf(ctx); c != nil {
		c.NodeEnd(now, node, e)
	}
}

func (l *locker) onNodeRestart(_ context.Context, e locktrace.NodeRestart) {
	defer text.Contain()
	e.Backend.Name = l.sets.name(e.Backend.Name, e.Backend.Keyspace)
	now := time.Now()
	l.calls.Timeline.Restarted(now, timeline.Restart{
		Backend: e.Backend.Name, Node: text.Name(e.Node), Enforced: e.Enforced, Evicted: e.Evicted, Left: e.Left,
	})
	l.nodes.Restarted(now, e)
}

func (l *locker) onDeadlock(_ context.Context, d lock.DeadlockError) {
	defer text.Contain()
	l.deadlocks.Tell(lock.DeadlockError{Cycle: l.sets.held(d.Cycle)}, time.Now())
}
