package engine

import (
	"context"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/internal/await"
	"github.com/lockscope/lockscope/lock/engine/internal/deadlock"
	"github.com/lockscope/lockscope/lock/engine/internal/hooks"
	"github.com/lockscope/lockscope/lock/engine/records"
)

// caller is one call of Acquire: where it comes from, and for what it asks.
type caller struct {
	engine   *core
	ts       hooks.Traces
	resource string
	key      string
	opts     lock.AcquireOptions
	queue    *resourceQueue
	graph    deadlock.Call
	origin   origin

	parent context.Context // of the lease
	traced context.Context // parent with what the traces of the Acquire put into it

	began time.Time
}

// endedBy is why the call must stop: its context ended, or the engine was closed. It is nil while neither has.
func (c *caller) endedBy(ctx context.Context) error {
	if ctx.Err() != nil {
		return await.Ended(ctx)
	}
	select {
	case <-c.engine.done:
		return lock.ErrClosed
	default:
		return nil
	}
}

// woken is what ends a wait well; what is nil never does.
type woken struct {
	wake  <-chan wakeUp
	timer <-chan time.Time
	turn  <-chan struct{}
}

// until waits for the first of it, or fails with what cuts every wait short. Meanwhile the
// call is in the graph of who waits for whom. told is what wake said.
func (c *caller) until(ctx context.Context, w woken) (told *wakeUp, err error) {
	for {
		select {
		case said := <-w.wake:
			return &said, nil
		case <-w.timer:
			return nil, nil
		case <-w.turn:
			return nil, nil
		case <-c.graph.Suspects():
			c.graph.LookAgain(func(d lock.Deadlock) { c.ts.Deadlock(c.traced, d) })
		case d := <-c.graph.Told():
			return nil, &lock.DeadlockError{Deadlock: d}
		case <-ctx.Done():
			return nil, await.Ended(ctx)
		case <-c.engine.done:
			return nil, lock.ErrClosed
		}
	}
}

// publishAfter is how long a call has waited before its process says more of itself
// than its place: hand-offs that take no time need not pay for it.
const publishAfter = 100 * time.Millisecond

// entry is what this process says of itself in the queue; "" as long as it has not waited.
func (c *caller) entry() string {
	waited := time.Since(c.began)
	if c.opts.NoWait || waited < publishAfter {
		return ""
	}
	w := records.Waiting{
		Holder: c.engine.holder(time.Now().Add(-waited), c.origin), Callers: 1,
		Holds: c.published(c.graph.Leases()), Backend: c.engine.backend.Name,
	}
	for _, leases := range c.queue.leasesOfTurns() {
		w.Callers++
		w.Holds = append(w.Holds, c.published(leases)...)
	}
	return string(w.Append(nil))
}

// published are leases as a queue entry names them: without the set of nodes if it is the
// queue's, whatever the lease's engine calls it.
func (c *caller) published(leases []*deadlock.Lease) []lock.Held {
	all := deadlock.InfoOf(leases)
	for i := range all {
		if all[i].Keyspace == c.engine.backend.Keyspace {
			all[i].Backend = ""
		}
	}
	return all
}
