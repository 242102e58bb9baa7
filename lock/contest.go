package lock

import (
	"context"
	"errors"
	"hash/fnv"
	"math/bits"
	"math/rand/v2"
	"time"
)

const (
	// maxPoll bounds how seldom a waiter far back in the queue looks.
	maxPoll = 5 * time.Second
	// Waits after a vote that too few nodes answered grow from the first to the second.
	firstBackoff = 5 * time.Millisecond
	maxBackoff   = time.Second
	// retryNamed is the pause of a waiter that was named, came, and met nodes
	// that had not yet heard of the release.
	retryNamed = 2 * time.Millisecond
)

// contest is one Acquire: attempts, and the waits between them.
type contest struct {
	r    *Redlock
	ts   tracers
	name string
	keys Keys
	opts AcquireOptions
	at   *place

	began    time.Time
	attempts int
	ticket   int64  // place in line, kept from one attempt to the next
	queued   uint64 // set of nodes whose queue this contest may have joined
	badGates uint64 // set of nodes that did not answer as gate
	waited   bool
	named    bool // the coming attempt follows a call by name
	unlucky  int  // named attempts in a row that failed
	faults   int  // attempts in a row without a quorum of answers
	polls    int  // waits in a row that ended without a hint
}

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
			c.leaveQueues(ctx, a)
			return a, nil
		}
		if ended := c.endedBy(ctx); ended != nil {
			c.leaveQueues(ctx, nil)
			return nil, c.cut(ended, lastFailure(res))
		}
		if c.opts.NoWait || res.hopeless || c.attempts == c.opts.MaxAttempts {
			c.leaveQueues(ctx, nil)
			return nil, res.err
		}
		if err := c.wait(ctx, res); err != nil {
			c.leaveQueues(ctx, nil)
			return nil, c.cut(err, lastFailure(res))
		}
	}
}

// lastFailure is what an attempt had met, where its own error is only that its
// context ended.
func lastFailure(res result) error {
	var quorum *QuorumError
	if errors.Is(res.err, ErrHeld) || errors.Is(res.err, ErrTooLate) || errors.As(res.err, &quorum) {
		return res.err
	}
	if res.blocker != nil {
		return res.blocker
	}
	return nil
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
	e := WaitStart{Resource: c.name, Kind: WaitLocal}
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
	a := c.r.newAttempt(c.at, c.keys, c.opts, traceparentOf(ctx))
	a.ts = c.ts
	a.start = AttemptStart{Resource: c.name, Attempt: c.attempts, GateFirst: c.gateFirst()}
	a.gate = c.gate()
	a.waiter = Waiter{ID: c.r.id, Ticket: c.ticket, Enqueue: !c.opts.NoWait && c.listens(ctx, a.gate)}
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
	}
	return a, res
}

func (c *contest) gateFirst() bool {
	if c.r.quorum == 1 && len(c.r.members) == 1 {
		return false
	}
	switch {
	case c.opts.Fair && !c.named:
		return true
	case c.attempts == 1:
		return c.waited || c.r.places.isContended(c.keys.Lock)
	case c.named:
		return false
	}
	// Now and then everybody is asked: the gate may be the one node that is wrong.
	return c.polls == 0 || c.polls%2 == 1
}

// gate is the first node that answers, in an order that the resource decides, so
// that all processes queue at the same one.
func (c *contest) gate() int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(c.keys.Lock))
	n := len(c.r.members)
	first := int(h.Sum32()) % n
	for i := range n {
		at := (first + i) % n
		if c.badGates&(1<<at) == 0 && !c.r.members[at].suspect() {
			return at
		}
	}
	c.badGates = 0
	return first
}

// listens makes sure that a release on this node can name us before we queue
// there. The first attempt does without rather than wait for a subscription.
func (c *contest) listens(ctx context.Context, node int) bool {
	m := c.r.members[node]
	if m.listening.Load() {
		return true
	}
	if c.attempts == 1 {
		return false
	}
	ctx, cancel := c.r.within(ctx)
	defer cancel()
	err := m.call(ctx, c.ts, NodeStart{Resource: c.name, Op: OpSubscribe, Attempt: c.attempts},
		func(ctx context.Context) (Verdict, error) { return Granted, m.Subscribe(ctx, c.r.id, c.r.wakeUp(m)) })
	if err != nil {
		return false
	}
	m.listening.Store(true)
	return true
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
	kind, d := c.pause(res)
	wasNamed := c.named
	c.named = false
	if d == 0 {
		return nil
	}
	c.waited = true
	e := WaitStart{Resource: c.name, Kind: kind, Ahead: res.ahead, Blocker: res.blocker}
	hooked := c.ts.waitStart(ctx, e)
	began := time.Now()
	timer := time.NewTimer(d)
	defer timer.Stop()
	var err error
	select {
	case w := <-c.at.wake:
		c.named = w.named
		c.polls = 0
	case <-timer.C:
		c.named = wasNamed && c.unlucky > 0
		c.polls++
	case <-ctx.Done():
		err = contextError(ctx)
	case <-c.r.done:
		err = ErrClosed
	}
	c.ts.waitEnd(hooked, WaitEnd{WaitStart: e, Took: time.Since(began), Named: c.named, Err: err})
	return err
}

// pause decides how long to wait at most, and for what.
func (c *contest) pause(res result) (WaitKind, time.Duration) {
	if res.gateFault && c.badGates != 0 && bits.OnesCount64(c.badGates) < len(c.r.members) {
		return WaitBackoff, 0 // another node will serve as gate
	}
	if !errors.Is(res.err, ErrHeld) {
		c.faults++
		ceiling := min(firstBackoff<<min(c.faults, 10), maxBackoff, c.r.cfg.pollInterval)
		return WaitBackoff, 1 + rand.N(ceiling)
	}
	c.faults = 0
	if c.named && c.unlucky < 3 {
		c.unlucky++
		return WaitHolder, retryNamed + rand.N(retryNamed)
	}
	c.unlucky = 0
	if res.ticket == 0 && c.attempts == 1 {
		return WaitHolder, 0 // subscribe and queue, then look once more
	}
	d := c.pollInterval(res.ahead)
	if res.freeIn > 0 && res.freeIn < d {
		spread := time.Duration(min(res.ahead, 50)) * time.Millisecond
		d = res.freeIn + time.Millisecond + rand.N(2*time.Millisecond+spread)
	}
	return WaitHolder, d
}

// pollInterval is jittered, and longer for those with many in front.
func (c *contest) pollInterval(ahead int) time.Duration {
	d := c.r.cfg.pollInterval
	if slower := d * time.Duration(1+min(ahead, 1000)/8); slower > d {
		d = max(d, min(slower, maxPoll))
	}
	return d/2 + rand.N(d/2)
}

// leaveQueues gives up the places this contest has, except where it won: there
// the grant has taken it out of the queue.
func (c *contest) leaveQueues(ctx context.Context, won *attempt) {
	for i := range c.r.members {
		if c.queued&(1<<i) == 0 {
			continue
		}
		if won != nil && i == won.gate && won.waiter.Enqueue {
			if state, _ := won.seats[i].standing(); state == granted {
				continue
			}
		}
		m := c.r.members[i]
		req := LeaveRequest{Keys: c.keys, WaiterID: c.r.id, Handoff: c.r.cfg.handoffWindow()}
		c.at.lines[i].do(c.r.group, func() {
			ctx, cancel := c.r.within(ctx)
			defer cancel()
			_ = m.call(ctx, c.ts, NodeStart{Resource: c.name, Op: OpLeave},
				func(ctx context.Context) (Verdict, error) { return Granted, m.Leave(ctx, req) })
		})
	}
}
