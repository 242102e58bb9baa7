// Package attempt asks the nodes for a lock once: a token, a vote, the fence that a quorum agrees on, and everything
// needed to undo it.
package attempt

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/await"
	"github.com/lockscope/lockscope/lock/engine/internal/ballot"
	"github.com/lockscope/lockscope/lock/engine/internal/callqueue"
	"github.com/lockscope/lockscope/lock/engine/internal/hooks"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// Attempt is one round of the algorithm: one token, one vote, and everything
// needed to undo it. It is the Redlock of the Redis documentation
// (https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/)
// with a fencing token agreed on by the quorum.
type Attempt struct {
	Terms

	Set     *nodes.Set
	ctx     context.Context        // for the values of its commands
	Timeout time.Duration          // of one call on a node
	Req     driver.AcquireRequest  // for all nodes
	gateReq *driver.AcquireRequest // for the gate, if its queue is joined
	args    driver.ArgsCache

	began  time.Duration // t0: validity counts from here
	Grants []Grant
	one    [1]Grant // of a lock on one node, without an allocation of its own

	mu     sync.Mutex
	ballot ballot.Ballot // guarded by mu
	Ready  await.Signal  // set when the ballot may have what it needs

	fence    uint64        // largest of the grants' counters: the fencing token
	run      uint64        // fences reserved on a quorum, from fence on
	validity time.Duration // when it was granted
	raised   bool
	undone   chan struct{} // closed when the nodes of wasted grants have answered; nil without such nodes
}

// Terms are decided by an Acquire before it makes an attempt.
type Terms struct {
	Start   locktrace.AttemptStart
	Traces  hooks.Traces
	Queue   *nodes.Calls
	Opts    lock.AcquireOptions
	Earlier []string // holder records of this Acquire's earlier attempts
	Reserve uint64   // fences asked for: its own, and those to hand over
	Gate    int      // index of the node whose queue is joined
	Waiter  driver.Waiter

	Semaphore *driver.Semaphore // whose slot it is; nil for other locks
	Contender nodes.Contender   // in this process
	Yields    bool              // at the gate it is Fair: nobody has named the caller
}

// New prepares an attempt with a token of its own. Run makes it. The holder record has the time since when the lock is
// held, by the wall clock, and who holds it.
func New(e *nodes.Set, t Terms, since time.Time, by nodes.Origin) *Attempt {
	a := &Attempt{
		Terms: t, Set: e, Timeout: e.Config.NodeTimeout(t.Opts.TTL),
		Ready: await.NewSignal(),
	}
	a.Grants = nodes.OneEach(a.one[:], len(e.Nodes))
	a.ballot = ballot.Ballot{
		Resource: t.Start.Resource, Key: t.Queue.Key, Gate: t.Gate, Names: e.Names, Timeout: a.Timeout,
		Tally: ballot.Tally{Nodes: len(e.Nodes)},
	}
	a.Req = driver.AcquireRequest{
		Key: t.Queue.Key, Token: newToken(), Holder: e.HolderRecord(since, by), TTL: t.Opts.TTL, Run: t.Reserve,
		Floor: uint64(max(since.UnixMicro(), 1)), Fair: t.Opts.Fair, Window: nodes.HandoffWindow, Args: &a.args,
		Mode: driver.Mode(t.Opts.Mode), Bar: Bar(e, &t.Opts), Semaphore: offersNone(t.Semaphore),
	}
	for i, n := range e.Nodes {
		g := &a.Grants[i]
		g.Node, g.round, g.Index, g.Calls = n, a, i, &t.Queue.On[i]
	}
	return a
}

// Run makes the attempt. If it succeeds, a quorum of nodes has granted the lock. If it fails,
// the grants are given back in the background, and the result says why.
func (a *Attempt) Run(ctx context.Context) ballot.Result {
	a.ctx = nodes.Values(ctx, a.Traces)
	a.began = a.Set.Config.Clock()
	res := a.vote(ctx)
	if res.Err == nil {
		res.Err = a.agreeOnFence(ctx)
		res.Hopeless = errors.Is(res.Err, lock.ErrInvalidOption)
	}
	if res.Err == nil {
		a.validity = a.Set.Validity(a.Opts.TTL, a.began)
		if a.validity <= 0 {
			res.Err = fmt.Errorf("%w: %q took %v of a TTL of %v", lock.ErrTooLate, a.Start.Resource,
				a.Set.Config.Clock()-a.began, a.Opts.TTL)
		}
	}
	res.GateRefused = a.Grants[a.Gate].known() == GrantRefused
	if res.Err != nil {
		a.abandon()
	}
	return res
}

// End is the event of the end of the attempt.
func (a *Attempt) End(took time.Duration, err error) locktrace.AttemptEnd {
	tally := a.ballot.Tally
	return locktrace.AttemptEnd{
		AttemptStart: a.Start, Nodes: tally.Nodes, Quorum: a.Set.Quorum,
		Granted: tally.Granted, Refused: tally.Refused, Failed: tally.Failed,
		Raised: a.raised, Validity: a.validity, Took: took, Err: err,
	}
}

// Holder is the attempt's holder record.
func (a *Attempt) Holder() string { return a.Req.Holder }

// Dequeued reports that the gate, whose queue the attempt had joined, granted: it has taken this process out of it.
func (a *Attempt) Dequeued() bool { return a.Waiter.Enqueue && a.Grants[a.Gate].Has() }

// InLine reports that the attempt is one of a caller that takes any slot of a semaphore.
func (a *Attempt) InLine() bool { return a.Semaphore != nil && a.Semaphore.OneQueue && a.Semaphore.Any }

// offersNone is the semaphore in requests to nodes other than the gate. They have no queue, or one of callers whose gate
// did not answer: two that have different gates would name each other without end.
func offersNone(of *driver.Semaphore) *driver.Semaphore {
	if of == nil || !of.Any {
		return of
	}
	other := *of
	other.Any = false
	return &other
}

// abandon releases the token on every node that may have it, in the background. A waiter
// that the gate granted keeps its position in the gate's queue.
func (a *Attempt) abandon() {
	granters := &countdown{over: make(chan struct{})}
	granters.left.Store(1) // the end of this loop
	for i := range a.Grants {
		g := &a.Grants[i]
		g.GiveUp()
		state := g.known()
		if a.ballot.Asked&(1<<i) == 0 || state == GrantRefused && !g.mayArrive() {
			continue
		}
		u := &Undoing{
			Grant: g, Ctx: a.ctx, Traces: a.Traces, Event: a.event(lock.OpRelease), Timeout: a.Timeout, withdraw: true,
			Req: driver.ReleaseRequest{Key: a.Req.Key, Token: a.Req.Token, Mode: a.Req.Mode, Semaphore: a.Semaphore},
		}
		if state == GrantHeld {
			a.undone = granters.over
			granters.left.Add(1)
			u.Report = &granter{granters: granters}
		}
		if i == a.Gate {
			u.contender = a.Contender
		}
		if i == a.Gate && a.Waiter.Enqueue {
			u.Req.Waiter = a.Waiter
		}
		u.Queue(callqueue.Waiter{})
	}
	granters.done()
}

// Settle waits until the nodes that granted have released again, so that the next caller does
// not find the resource held. The node timeout bounds it.
func (a *Attempt) Settle(ctx context.Context) {
	if a.undone == nil {
		return
	}
	timer := a.Set.Timers.Start(a.Timeout)
	defer a.Set.Timers.Stop(timer)
	select {
	case <-a.undone:
	case <-timer.C:
	case <-ctx.Done():
	case <-a.Set.Done:
	}
}
