package lock

import (
	"context"
	"errors"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

// contest is one Acquire: attempts, and the waits between them.
type contest struct {
	r    *Engine
	ts   tracers
	name string
	key  string
	opts AcquireOptions
	at   *place

	began    time.Time
	attempts int
	ticket   int64  // place in line, kept from one attempt to the next
	queued   uint64 // set of nodes whose queue this contest may have joined
	badGates uint64 // set of nodes that just did not answer as gate
	detours  int    // gates in a row that did not answer
	waited   bool
	named    bool  // the coming attempt follows a call by name
	unlucky  int   // named attempts in a row that failed
	faults   int   // attempts in a row without a quorum of answers
	polls    int   // poll intervals in a row in which nothing was heard
	last     error // what the last attempt to be decided had met
	own      []string
}

// maxOwn is how many earlier attempts a contest knows its own leftovers of.
const maxOwn = 8

// acquire attempts and waits until it has the lock or must stop.
func (c *contest) acquire(ctx context.Context) (*attempt, error) {
	if !c.opts.NoWait {
		if err := c.awaitTurn(ctx); err != nil {
			return nil, c.cut(err, nil)
		}
		defer c.r.places.passTurn(c.at)
	}
	for {
		c.attempts++
		a, res := c.try(ctx)
		if res.err == nil {
			c.at.blocker.Store(nil)
			c.leaveQueues(ctx, a)
			return a, nil
		}
		c.remember(a, res)
		if ended := c.endedBy(ctx); ended != nil {
			c.leaveQueues(ctx, nil)
			return nil, c.cut(ended, c.last)
		}
		if c.opts.NoWait || res.hopeless || c.attempts == c.opts.MaxAttempts {
			a.settle(ctx)
			c.leaveQueues(ctx, nil)
			return nil, res.err
		}
		if err := c.wait(ctx, res); err != nil {
			c.leaveQueues(ctx, nil)
			return nil, c.cut(err, c.last)
		}
	}
}

// remember keeps what an attempt had met, unless that is only that its context
// ended, and what it may have left behind.
func (c *contest) remember(a *attempt, res result) {
	c.own = append(c.own[max(0, len(c.own)-maxOwn):], a.holder)
	switch {
	case errors.Is(res.err, ErrHeld), errors.Is(res.err, ErrTooLate), errors.Is(res.err, ErrNoQuorum):
		c.last = res.err
	case res.blocker != nil:
		c.last = res.blocker
	}
}

func (c *contest) cut(err, last error) error {
	return &WaitError{Resource: c.name, Attempts: c.attempts, Waited: time.Since(c.began), Last: last, Err: err}
}

func (c *contest) endedBy(ctx context.Context) error {
	if ctx.Err() != nil {
		return contextError(ctx)
	}
	select {
	case <-c.r.done:
		return ErrClosed
	default:
		return nil
	}
}

// awaitTurn queues behind the other callers of this process.
func (c *contest) awaitTurn(ctx context.Context) error {
	turn := c.r.places.takeTurn(c.at)
	if turn == nil {
		return nil
	}
	e := WaitStart{Resource: c.name, Kind: WaitLocal, Blocker: c.at.blocker.Load()}
	if len(c.ts) > 0 {
		e.Ahead = c.r.places.ahead(c.at, turn)
	}
	hooked := c.ts.waitStart(ctx, e)
	began := time.Now()
	var err error
	select {
	case <-turn:
	case <-ctx.Done():
		err = contextError(ctx)
	case <-c.r.done:
		err = ErrClosed
	}
	if err != nil {
		c.r.places.giveUpTurn(c.at, turn)
	}
	c.waited = true
	c.ts.waitEnd(hooked, WaitEnd{WaitStart: e, Took: time.Since(began), Err: err})
	return err
}

// try makes one attempt: by all nodes at once when the lock is likely free or
// this waiter was named, else by the gate node first, so that those who come in
// vain disturb one node only.
func (c *contest) try(ctx context.Context) (*attempt, result) {
	c.drainWake()
	a := c.r.newAttempt(c.at, c.key, c.opts, traceparentOf(ctx))
	a.ts, a.own = c.ts, c.own
	a.start = AttemptStart{Resource: c.name, Attempt: c.attempts, GateFirst: c.gateFirst()}
	a.gate = c.gate()
	a.waiter = driver.Waiter{ID: c.r.id, Ticket: c.ticket, Enqueue: !c.opts.NoWait && c.listens(ctx, a.gate)}
	hooked := c.ts.attemptStart(ctx, a.start)
	began := time.Now()
	res := a.run(hooked)
	if len(c.ts) > 0 {
		c.ts.attemptEnd(hooked, AttemptEnd{
			AttemptStart: a.start, Nodes: a.tally.nodes, Quorum: c.r.quorum,
			Granted: a.tally.granted, Refused: a.tally.refused, Failed: a.tally.failed,
			Raised: a.raised, Validity: a.validity, Took: time.Since(began), Err: res.err,
		})
	}
	if a.waiter.Enqueue {
		c.queued |= 1 << a.gate
	}
	if res.ticket > 0 {
		c.ticket = res.ticket
	}
	if res.gateFault {
		c.badGates |= 1 << a.gate
	} else {
		c.badGates = 0 // back to where everybody queues, as soon as that node answers
	}
	return a, res
}

func (c *contest) drainWake() {
	select {
	case w := <-c.at.wake:
		c.named = c.named || w.named
	default:
	}
}

// wait blocks until another attempt is worth while.
func (c *contest) wait(ctx context.Context, res result) error {
	kind, d, poll := c.pause(res)
	wasNamed := c.named
	c.named = false
	if d == 0 {
		return nil
	}
	c.waited = true
	e := WaitStart{Resource: c.name, Kind: kind, Ahead: res.ahead, Last: res.err}
	if kind == WaitHolder {
		e.Blocker = res.blocker
		c.at.blocker.Store(res.blocker)
	}
	hooked := c.ts.waitStart(ctx, e)
	began := time.Now()
	timer := time.NewTimer(d)
	defer timer.Stop()
	var err error
	select {
	case w := <-c.at.wake:
		c.named, c.polls = w.named, 0
	case <-timer.C:
		c.named = wasNamed && c.unlucky > 0
		if poll {
			c.polls++
		} else {
			c.polls = 0
		}
	case <-ctx.Done():
		err = contextError(ctx)
	case <-c.r.done:
		err = ErrClosed
	}
	c.ts.waitEnd(hooked, WaitEnd{WaitStart: e, Took: time.Since(began), Named: c.named, Err: err})
	return err
}
