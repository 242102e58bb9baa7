package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/await"
	"github.com/lockscope/lockscope/lock/engine/internal/deadlock"
	"github.com/lockscope/lockscope/lock/engine/internal/hooks"
)

// acquisition is one Acquire: attempts, and the waits between them.
type acquisition struct {
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

	began       time.Time
	attempts    int
	ticket      int64  // position in the gate's queue, kept from one attempt to the next
	queued      uint64 // set of nodes whose queue this acquisition may have joined
	failedGates uint64 // set of nodes that just did not answer as gate
	gateFaults  int    // gates in a row that did not answer
	waited      bool
	named       bool // the coming attempt follows a call by name
	namedInVain int  // named attempts in a row that failed
	faults      int  // attempts in a row without a quorum of answers
	polls       int  // poll intervals in a row in which nothing was heard
	next        bool // nobody was in front when the gate was last asked for the position
	foreign     foreignHolder
	last        error    // what the last attempt to be decided had met
	earlier     []string // holder records of the attempts before
}

// maxEarlier is how many earlier attempts an acquisition knows its own leftovers of.
const maxEarlier = 8

// acquireLease acquires within the wait budget.
func (a *acquisition) acquireLease() (*lease, error) {
	if err := a.endedBy(a.parent); err != nil {
		return nil, a.cut(err, nil)
	}
	wait := a.traced
	if a.opts.MaxWait > 0 {
		var cancel context.CancelFunc
		wait, cancel = context.WithTimeoutCause(wait, a.opts.MaxWait, lock.ErrMaxWait)
		defer cancel()
	}
	for {
		l, late, err := a.enterAndAcquire(wait)
		if err != nil {
			return nil, err
		}
		if !late {
			return l, nil
		}
		l.lose()
		a.last = fmt.Errorf("%w: %q ran out while this process stood still", lock.ErrTooLate, a.resource)
		if a.opts.NoWait || a.attempts > 0 && a.attempts == a.opts.MaxAttempts {
			return nil, a.last
		}
		a.ticket, a.queued, a.next = 0, 0, false // the grant has used them up
	}
}

// enterAndAcquire joins the resource's queue and acquires. The lease leaves the queue when it
// ends; late says that it has run out before it could be returned.
func (a *acquisition) enterAndAcquire(ctx context.Context) (l *lease, late bool, err error) {
	a.queue = a.engine.queues.enter(a.key)
	defer func() {
		if l == nil {
			a.queue.leave()
		}
	}()
	from, err := a.acquire(ctx)
	if err != nil {
		return nil, false, err
	}
	l, late = newLease(a, from)
	return l, late, nil
}

// acquire waits for its turn, which it has if it succeeds, and for the lock.
func (a *acquisition) acquire(ctx context.Context) (beginning, error) {
	defer a.graph.End()
	if a.opts.NoWait {
		return a.contend(ctx)
	}
	turn, err := a.awaitTurn(ctx)
	if err != nil {
		return beginning{}, a.cut(err, a.queue.lastMet())
	}
	if turn != nil && turn.handed {
		return turn.from, nil
	}
	from, err := a.contend(ctx)
	if err != nil {
		a.queue.passTurn()
	}
	return from, err
}

// contend attempts and waits until it has the lock or must stop.
func (a *acquisition) contend(ctx context.Context) (beginning, error) {
	a.engine.warm.await(ctx, a.engine.base, a.engine.nodes)
	for {
		a.attempts++
		try, res := a.try(ctx)
		if res.err == nil {
			a.queue.blocker.Store(nil)
			a.queue.met.Store(nil)
			a.leaveQueues(ctx, try)
			return try.won(), nil
		}
		a.remember(try, res)
		if ended := a.endedBy(ctx); ended != nil {
			a.leaveQueues(ctx, nil)
			if a.last == nil {
				a.last = a.queue.lastMet()
			}
			if a.last == nil {
				a.last = try.unfinished()
			}
			return beginning{}, a.cut(ended, a.last)
		}
		if a.opts.NoWait || res.hopeless || a.attempts == a.opts.MaxAttempts {
			try.settle(ctx)
			a.leaveQueues(ctx, nil)
			return beginning{}, res.err
		}
		if err := a.wait(ctx, res); err != nil {
			a.leaveQueues(ctx, nil)
			return beginning{}, a.cut(err, a.last)
		}
	}
}

// remember keeps what an attempt had met, unless that is only that its context
// ended, and what it may have left behind.
func (a *acquisition) remember(try *attempt, res result) {
	a.earlier = append(a.earlier[max(0, len(a.earlier)-maxEarlier):], try.req.Holder)
	switch {
	case errors.Is(res.err, lock.ErrHeld), errors.Is(res.err, lock.ErrTooLate), errors.Is(res.err, lock.ErrNoQuorum):
		a.last = res.err
	case res.blocker != nil:
		a.last = res.blocker
	default:
		return
	}
	met := a.last
	a.queue.met.Store(&met)
}

func (a *acquisition) cut(err, last error) error {
	return &lock.WaitError{Resource: a.resource, Attempts: a.attempts, Waited: time.Since(a.began), Last: last,
		Err: err}
}

func (a *acquisition) endedBy(ctx context.Context) error {
	if ctx.Err() != nil {
		return await.Ended(ctx)
	}
	select {
	case <-a.engine.done:
		return lock.ErrClosed
	default:
		return nil
	}
}

// try makes one attempt: by all nodes at once when the lock is likely free or
// this waiter was named, else by the gate node first, so that those who come in
// vain disturb one node only.
func (a *acquisition) try(ctx context.Context) (*attempt, result) {
	try := newAttempt(a.engine.base, a.engine.nodes, a.terms(ctx))
	hooked := a.ts.AttemptStart(ctx, try.start)
	began := time.Now()
	res := try.carryOut(hooked)
	if len(a.ts) > 0 {
		tally := try.ballot.tally
		a.ts.AttemptEnd(hooked, lock.AttemptEnd{
			AttemptStart: try.start, Nodes: tally.Nodes, Quorum: a.engine.quorum,
			Granted: tally.Granted, Refused: tally.Refused, Failed: tally.Failed,
			Raised: try.raised, Validity: try.validity, Took: time.Since(began), Err: res.err,
		})
	}
	if try.waiter.Enqueue {
		a.queued |= 1 << try.gate
	}
	if res.ticket > 0 {
		a.ticket, a.next = res.ticket, res.ahead == 0
	}
	if res.gateFault {
		a.failedGates |= 1 << try.gate
	} else {
		a.failedGates = 0 // back to where everybody queues, as soon as that node answers
	}
	return try, res
}

// terms are those of the coming attempt, as of this instant: making sure that the gate can
// name this process may take a while.
func (a *acquisition) terms(ctx context.Context) terms {
	a.drainWake()
	t := terms{
		start: lock.AttemptStart{Resource: a.resource, Attempt: a.attempts, GateFirst: a.gateFirst()},
		ts:    a.ts, traced: a.traced, queue: &a.queue.nodeQueues, opts: a.opts, since: time.Now(), origin: a.origin,
		earlier: a.earlier, reserve: a.reserve(), gate: a.gate(),
	}
	t.waiter = a.waiter(ctx, t.gate)
	return t
}

// waiter is this process's place in the queue of the gate, which it joins if that can name it.
func (a *acquisition) waiter(ctx context.Context, gate int) driver.Waiter {
	w := driver.Waiter{ID: a.engine.id, Ticket: a.ticket, Enqueue: !a.opts.NoWait && a.listens(ctx, gate)}
	if w.Enqueue {
		w.Record = a.entry()
	}
	return w
}
