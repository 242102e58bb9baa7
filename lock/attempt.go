package lock

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

// attempt is one round of the algorithm: one token, one vote, and everything
// needed to undo it. It is the Redlock of the Redis documentation
// (https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/)
// with a fencing token agreed on by the quorum.
type attempt struct {
	engine *Engine
	ts     tracers
	start  AttemptStart
	traced context.Context // of the Acquire, for the lease
	queue  *resourceQueue

	key     string
	token   string
	holder  string
	opts    AcquireOptions
	earlier []string // holder records of this Acquire's earlier attempts
	waiter  driver.Waiter
	gate    int // index of the node whose queue is joined; -1 for none
	floor   uint64

	began  time.Duration // t0: validity counts from here
	grants []grant
	tally  tally
	votes  chan vote
	asked  int

	counter  uint64 // largest of the grants' counters: the fencing token
	validity time.Duration
	raised   bool
	undone   chan struct{} // closed when nodes that granted in vain have answered; nil if none did
}

// vote is one node's answer.
type vote struct {
	from  int
	reply driver.AcquireReply
	err   error
}

// result is how an attempt ended.
type result struct {
	err       error
	blocker   *HeldError
	freeIn    time.Duration // until a quorum of TTLs has run out; < 0 if unknown
	ticket    int64         // position in the gate's queue; 0 if not queued
	ahead     int
	gateFault bool // the gate node did not answer
	hopeless  bool // trying again cannot help
	split     bool // enough nodes answered, but others have some of them
}

func (e *Engine) newAttempt(queue *resourceQueue, key string, opts AcquireOptions, traceparent string) *attempt {
	now := time.Now()
	a := &attempt{
		engine: e, queue: queue, key: key, opts: opts, gate: -1,
		token:  newToken(),
		holder: Holder{Instance: e.cfg.Instance, Since: now, Traceparent: traceparent}.record() + "|" + e.attemptName(),
		floor:  uint64(max(now.UnixMicro(), 1)),
		grants: make([]grant, len(e.nodes)),
		votes:  make(chan vote, len(e.nodes)),
		tally:  tally{nodes: len(e.nodes)},
	}
	for i, n := range e.nodes {
		a.grants[i].node, a.grants[i].calls = n, &queue.calls[i]
	}
	return a
}

// run makes the attempt. On success the grants hold the lock; on failure they are
// being given back in the background, and the result says why.
func (a *attempt) run(ctx context.Context) result {
	a.began = a.engine.cfg.Clock()
	res := a.vote(ctx)
	if res.err == nil {
		res.err = a.agreeOnFence(ctx)
	}
	if res.err == nil {
		a.validity = a.engine.validity(a.opts.TTL, a.began)
		if a.validity <= 0 {
			res.err = fmt.Errorf("%w: %q took %v of a TTL of %v", ErrTooLate, a.start.Resource,
				a.engine.cfg.Clock()-a.began, a.opts.TTL)
		}
	}
	if res.err != nil {
		a.abandon(ctx)
	}
	return res
}

// vote asks the nodes until the outcome is certain.
func (a *attempt) vote(ctx context.Context) result {
	ballot := newBallot(a)
	if a.start.GateFirst {
		a.ask(ctx, a.engine.newRound(ctx, 1), a.gate)
		if err := a.collect(ctx, ballot, func() bool { return ballot.answered == 1 }); err != nil {
			return ballot.result(err)
		}
		if a.tally.refused > 0 || a.tally.failed > 0 && a.waiter.Enqueue {
			return ballot.turnedAway()
		}
	}
	rest := a.engine.newRound(ctx, len(a.grants)-a.asked)
	for i := range a.grants {
		if !a.start.GateFirst || i != a.gate {
			a.ask(ctx, rest, i)
		}
	}
	err := a.collect(ctx, ballot, a.decided)
	return ballot.result(err)
}

func (a *attempt) decided() bool { return a.tally.decided() }

// ask sends the acquire to one node, in the order of its calls.
func (a *attempt) ask(ctx context.Context, in *round, i int) {
	g := &a.grants[i]
	a.asked++
	a.engine.submit(ctx, g.calls, func() {
		defer in.done()
		if !g.open() || in.ctx.Err() != nil {
			a.votes <- vote{from: i, err: fmt.Errorf("%w: earlier calls are under way", driver.ErrNotSent)}
			return
		}
		req := driver.AcquireRequest{
			Key: a.key, Token: a.token, Holder: a.holder, TTL: a.opts.TTL, Floor: a.floor,
			Waiter: a.waiter, Fair: a.opts.Fair, Window: a.engine.cfg.handoffWindow(),
		}
		req.Waiter.Enqueue = a.waiter.Enqueue && i == a.gate
		var reply driver.AcquireReply
		err := g.call(in.ctx, a.ts, a.event(OpAcquire), func(ctx context.Context) (v Verdict, err error) {
			reply, err = g.acquire(ctx, req)
			return verdictOf(reply.Granted), err
		})
		switch {
		case errors.Is(err, driver.ErrNotSent):
		case errors.Is(err, driver.ErrTombstone), errors.Is(err, driver.ErrFenceCounter):
			g.set(grantRefused, 0)
		case err != nil:
			g.set(grantUnknown, 0)
		case reply.Granted:
			g.set(grantHeld, reply.Counter)
		default:
			g.set(grantRefused, 0)
			if slices.Contains(a.earlier, reply.Holder) {
				err = errOwnLeftover
			}
		}
		a.votes <- vote{from: i, reply: reply, err: err}
	})
}

func (a *attempt) event(op Operation) NodeStart {
	return NodeStart{Resource: a.start.Resource, Op: op, Attempt: a.start.Attempt}
}

// collect counts votes until enough says so, until every node asked has voted or
// run out of time, or until ctx ends.
func (a *attempt) collect(ctx context.Context, b *ballot, enough func() bool) error {
	for !enough() {
		select {
		case v := <-a.votes:
			b.count(v)
			continue
		default:
		}
		break
	}
	if enough() {
		return nil
	}
	timer := time.NewTimer(a.engine.cfg.NodeTimeout)
	defer timer.Stop()
	for !enough() {
		select {
		case v := <-a.votes:
			b.count(v)
		case <-timer.C:
			b.timeOut()
			return nil
		case <-ctx.Done():
			return contextError(ctx)
		case <-a.engine.done:
			return ErrClosed
		}
	}
	return nil
}

func (a *attempt) quorumError(op Operation) *QuorumError {
	return &QuorumError{
		Resource: a.start.Resource, Op: op, Nodes: a.tally.nodes, Quorum: a.engine.quorum,
		Granted: a.tally.granted, Refused: a.tally.refused,
	}
}

// abandon gives the token back wherever it may be, in the background. A waiter
// that the gate granted keeps its position in the gate's queue.
func (a *attempt) abandon(ctx context.Context) {
	undone := make(chan struct{})
	granters := countdown{over: func() { close(undone) }}
	granters.expect(1) // the end of this loop
	for i := range a.grants {
		g := &a.grants[i]
		g.giveUp()
		state, _ := g.known()
		if state == grantRefused && !g.mayArrive() {
			continue
		}
		call := releaseCall{
			ctx: ctx, ts: a.ts, event: a.event(OpRelease), req: driver.ReleaseRequest{Key: a.key, Token: a.token},
			report: func(releaseAnswer) {},
		}
		if state == grantHeld {
			a.undone = undone
			granters.expect(1)
			answered := sync.OnceFunc(granters.done)
			call.report = func(releaseAnswer) { answered() }
		}
		if i == a.gate && a.waiter.Enqueue {
			call.req.Waiter = a.waiter
		}
		g.calls.do(a.engine.workers, func() { g.withdraw(call) })
	}
	granters.done()
}

// settle waits for the nodes that granted in vain, so that whoever asks next is not
// told that the resource is held. The node timeout bounds it.
func (a *attempt) settle(ctx context.Context) {
	if a.undone == nil {
		return
	}
	timer := time.NewTimer(a.engine.cfg.NodeTimeout)
	defer timer.Stop()
	select {
	case <-a.undone:
	case <-timer.C:
	case <-ctx.Done():
	case <-a.engine.done:
	}
}

// contextError is why ctx ended, with its cause if somebody gave one. A wait budget
// that is spent is not a deadline of the caller's: it is ErrMaxWait alone.
func contextError(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if cause == nil || errors.Is(err, cause) {
		return err
	}
	if errors.Is(cause, ErrMaxWait) {
		return ErrMaxWait
	}
	return fmt.Errorf("%w: %w", cause, err)
}

// errOwnLeftover says that a node still has what an earlier attempt of the same
// Acquire left there: it is on its way out, and nobody else's lock.
var errOwnLeftover = errors.New("an earlier attempt is not undone yet")

const never = time.Duration(math.MaxInt64)
