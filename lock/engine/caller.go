package engine

import (
	"context"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/internal/attempt"
	"github.com/lockscope/lockscope/lock/engine/internal/await"
	"github.com/lockscope/lockscope/lock/engine/internal/deadlock"
	"github.com/lockscope/lockscope/lock/engine/internal/lease"
	"github.com/lockscope/lockscope/lock/engine/internal/queue"
	"github.com/lockscope/lockscope/lock/engine/records"
)

// caller is one call of Acquire: where it comes from, and for what it asks.
type caller struct {
	lease.Request

	engine *core
	key    string
	graph  deadlock.Call
	began  time.Time
	any    *anySlot // nil unless the call takes any slot of a semaphore
	line   string   // key of the queue on the nodes: key, or that of the semaphore
}

// lease makes the lease of the call; see lease.New.
func (c *caller) lease(from attempt.Beginning) (l *lease.Lease, late bool) {
	return lease.New(c.engine.Set, c.engine.leases, &c.Request, from)
}

// endedBy is why the call must stop: its context ended, or the engine was closed. It is nil while neither has.
func (c *caller) endedBy(ctx context.Context) error {
	if ctx.Err() != nil {
		return await.Ended(ctx)
	}
	select {
	case <-c.engine.Done:
		return lock.ErrClosed
	default:
		return nil
	}
}

// woken has the channels that end a wait without an error; a nil channel never does.
type woken struct {
	wake  <-chan queue.WakeUp
	timer <-chan time.Time
	turn  <-chan struct{}
}

// until waits for the first of these channels. It fails if a deadlock, the end of ctx or the
// engine's Close ends the wait. told is the hint that wake received.
func (c *caller) until(ctx context.Context, w woken) (told *queue.WakeUp, err error) {
	for {
		select {
		case said := <-w.wake:
			return &said, nil
		case <-w.timer:
			return nil, nil
		case <-w.turn:
			return nil, nil
		case <-c.graph.Suspects():
			c.graph.LookAgain(func(d lock.Deadlock) { c.Traces.Deadlock(c.Traced, d) })
		case d := <-c.graph.Told():
			return nil, &lock.DeadlockError{Deadlock: d}
		case <-ctx.Done():
			return nil, await.Ended(ctx)
		case <-c.engine.Done:
			return nil, lock.ErrClosed
		}
	}
}

// waitsForSlots makes any slot of a semaphore end the wait in the graph of waits, wherever the call queues.
func (c *caller) waitsForSlots() {
	of := records.Construct{Kind: c.Opts.Kind, Slots: c.Opts.Slots}
	if len(c.graph.Leases()) == 0 || of.Slots == 1 || records.SlotsOf(c.key, of) == nil {
		return
	}
	c.graph.WaitsForEither(func() []*deadlock.Resource { return c.engine.queues.Graphs(records.SlotsOf(c.key, of)) })
}

// publishAfter is how long a call waits before its entry in the queue describes it: short waits
// need not pay for that.
const publishAfter = 100 * time.Millisecond

// entry describes this process in the queue; "" before publishAfter.
func (c *caller) entry() string {
	waited := time.Since(c.began)
	if c.Opts.NoWait || waited < publishAfter {
		return ""
	}
	w := records.Waiting{
		Holder: c.engine.Holder(time.Now().Add(-waited), c.Origin), Callers: 1,
		Holds: c.published(c.graph.Leases()), Backend: c.engine.Backend.Name,
	}
	for _, leases := range c.Queue.LeasesOfTurns() {
		w.Callers++
		w.Holds = append(w.Holds, c.published(leases)...)
	}
	return string(w.Append(nil))
}

// published describes leases for a queue entry. It omits the backend of leases on the queue's
// own nodes, whatever their engine calls it.
func (c *caller) published(leases []*deadlock.Lease) []lock.HeldLease {
	all := deadlock.InfoOf(leases)
	for i := range all {
		if all[i].Keyspace == c.engine.Backend.Keyspace {
			all[i].Backend = ""
		}
	}
	return all
}
