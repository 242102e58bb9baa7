// Package contest is one call of Acquire, from its turn in this process to its lease.
package contest

import (
	"context"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/internal/attempt"
	"github.com/lockscope/lockscope/lock/engine/internal/await"
	"github.com/lockscope/lockscope/lock/engine/internal/deadlock"
	"github.com/lockscope/lockscope/lock/engine/internal/hooks"
	"github.com/lockscope/lockscope/lock/engine/internal/lease"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
	"github.com/lockscope/lockscope/lock/engine/internal/queue"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// contest is one call of Acquire: it waits for its turn in this process, contends for a group of keys with other
// processes, and ends with a lease or an error.
type contest struct {
	engine *Core
	req    lease.Request
	began  time.Time
	graph  deadlock.Call
	group  group

	line    *queue.Queue         // of the callers of this process that want any member
	members map[int]*queue.Queue // with the calls about each member; without the line
	member  int                  // that the coming attempt asks for
	round   int                  // members to try before the call waits again
	next    int                  // where the next round begins
	roundAt time.Time            // when it is due; zero after it has begun
	offers  int                  // of the gate, one after another
	found   map[int]error        // why the last attempt at each member failed

	gate      gateQueue
	pace      backoff
	undecided undecided

	attempts int
	tries    int  // of them, in the queue, or at one member without
	counted  int  // attempts or rounds that MaxAttempts counts
	left     bool // the turn of the line is passed on, or will be
	sweeping bool // the attempts do not queue
	waited   bool
	named    bool // the coming attempt follows a call by name, or an offer
	last     error
	earlier  []string // holder records of the attempts before
}

// Acquire acquires the resource, with options that were validated. callSite says that the call is to be known by where
// it was made.
func (e *Core) Acquire(ctx context.Context, resource string, o lock.AcquireOptions, callSite bool) (*lease.Lease, error) {
	c := &contest{
		engine: e, began: time.Now(),
		req: lease.Request{Traces: hooks.Of(ctx), Resource: resource, Opts: o, Parent: ctx},
	}
	if err := c.begin(); err != nil {
		return nil, err
	}
	if callSite {
		c.req.Origin.CallSite = nearestCaller()
	}
	start := locktrace.AcquireStart{
		Resource: resource, Backend: e.Backend, Nodes: len(e.Nodes), Quorum: e.Quorum,
		Options: o, CallSite: c.req.Origin.CallSite,
	}
	if len(c.req.Traces) > 0 {
		start.Holds = deadlock.InfoOf(c.graph.Leases())
	}
	c.req.Traced = c.req.Traces.AcquireStart(ctx, start)
	c.req.Origin.Traceparent = nodes.Traceparent(c.req.Traced)
	l, err := c.acquireLease()
	if len(c.req.Traces) > 0 {
		end := locktrace.AcquireEnd{AcquireStart: start, Attempts: c.attempts, Took: time.Since(c.began), Err: err}
		if l != nil {
			l.Describe(&end)
		}
		c.req.Traces.AcquireEnd(c.req.Traced, end)
	}
	return l, err
}

// begin refuses what no node has to be asked about, and describes the call.
func (c *contest) begin() error {
	e, opts := c.engine, &c.req.Opts
	if err := e.can(opts); err != nil {
		return fmt.Errorf("lock: %q: %w", c.req.Resource, err)
	}
	var err error
	if c.group, err = e.groupOf(c.req.Resource, opts); err != nil {
		return err
	}
	if c.group.any {
		c.members, c.found = make(map[int]*queue.Queue), make(map[int]error)
	}
	c.graph = deadlock.NewCall(c.req.Parent, opts.FailOnDeadlock)
	if err := c.upgrades(); err != nil {
		return err
	}
	c.waitsForEither()
	c.waitsForWriters()
	c.req.Origin.Kind, c.req.Origin.Slots, c.req.Origin.Reason = opts.Kind, opts.Slots, opts.HoldReason
	return nil
}

// acquireLease acquires within the wait budget. Close waits for the call: what it undoes begins before it returns. A call
// that begins too late to be waited for sees that the engine is closed, and asks no node.
func (c *contest) acquireLease() (*lease.Lease, error) {
	c.engine.Releases.Begin()
	defer c.engine.Releases.End()
	if err := c.endedBy(c.req.Parent); err != nil {
		return nil, c.cut(err, nil)
	}
	wait := c.req.Traced
	if c.req.Opts.MaxWait > 0 {
		var cancel context.CancelFunc
		wait, cancel = context.WithTimeoutCause(wait, c.req.Opts.MaxWait, lock.ErrMaxWait)
		defer cancel()
	}
	for {
		l, late, err := c.enterAndAcquire(wait)
		if err != nil {
			return nil, err
		}
		if !late {
			return l, nil
		}
		l.Lose()
		c.last = fmt.Errorf("%w: %q expired while this process was paused", lock.ErrTooLate, l.Resource())
		if c.req.Opts.NoWait || c.attempts > 0 && c.spent() {
			return nil, c.last
		}
		c.gate = gateQueue{failed: c.gate.failed} // the grant has used up the rest
	}
}

// enterAndAcquire joins the queue of this process and acquires. The lease leaves the queue when it
// ends; late reports that it ran out before it could be returned.
func (c *contest) enterAndAcquire(ctx context.Context) (l *lease.Lease, late bool, err error) {
	c.line, c.left, c.offers = c.engine.Queues.Enter(c.group.key), false, 0
	defer func() { c.exit(l) }()
	from, err := c.acquire(ctx)
	if err != nil {
		return nil, false, err
	}
	c.req.Resource, c.req.Queue = from.Attempt.Start.Resource, c.queueOf(c.member)
	c.req.HasTurn = c.req.Queue == c.line && !c.req.Opts.NoWait
	if c.group.any && !from.Attempt.Dequeued() {
		c.req.Queue.NotNamed()
	}
	l, late = lease.New(c.engine.Set, c.engine.Leases, &c.req, from)
	return l, late, nil
}

// exit leaves the queues that the call has entered, except the one that its lease leaves.
func (c *contest) exit(l *lease.Lease) {
	taken := c.req.Queue
	if l == nil {
		taken = nil
	}
	if !c.left && c.line != taken {
		c.line.Leave()
	}
	for member, q := range c.members {
		if q != taken {
			q.Leave()
		}
		delete(c.members, member)
	}
}

// acquire asks at once if the call does not have to wait behind others of this process. Else it waits for its turn, and
// contends. A call for a lock that succeeds has the turn still.
func (c *contest) acquire(ctx context.Context) (attempt.Beginning, error) {
	defer c.graph.End()
	if c.req.Opts.NoWait || c.group.any && !c.line.Contends() {
		from, err := c.sweep(ctx)
		if err == nil || !c.mayQueue(err) {
			return from, err
		}
	}
	turn, err := c.awaitTurn(ctx)
	if err != nil {
		return attempt.Beginning{}, c.cut(err, c.line.LastMet())
	}
	if turn != nil && turn.Handed {
		return turn.From, nil
	}
	return c.contend(ctx)
}

// endedBy is why the call must stop: its context ended, or the engine was closed. It is nil while neither has.
func (c *contest) endedBy(ctx context.Context) error {
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

// spent reports that the call has made as many attempts as it may.
func (c *contest) spent() bool {
	return c.req.Opts.MaxAttempts > 0 && c.counted >= c.req.Opts.MaxAttempts
}

// cut is the error of a call that err cut short; last is why its last attempt failed.
func (c *contest) cut(err, last error) error {
	return &lock.WaitError{Resource: c.group.resource, Attempts: c.attempts, Waited: time.Since(c.began), Last: last, Err: err}
}
