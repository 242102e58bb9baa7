package engine

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
	"github.com/lockscope/lockscope/lock/engine/internal/hooks"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
	"github.com/lockscope/lockscope/lock/engine/internal/quorum"
)

// attempt is one round of the algorithm: one token, one vote, and everything
// needed to undo it. It is the Redlock of the Redis documentation
// (https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/)
// with a fencing token agreed on by the quorum.
type attempt struct {
	terms

	set     *nodes.Set
	ctx     context.Context        // for the values of its commands
	timeout time.Duration          // of one call on a node
	req     driver.AcquireRequest  // for all nodes
	gateReq *driver.AcquireRequest // for the gate, if its queue is joined
	shared  driver.Shared

	began  time.Duration // t0: validity counts from here
	grants []grant

	mu     sync.Mutex
	ballot ballot.Ballot // guarded by mu
	ready  await.Signal  // set when the ballot may have what it needs

	fence    uint64        // largest of the grants' counters: the fencing token
	run      uint64        // fences reserved on a quorum, from fence on
	validity time.Duration // when it was granted
	raised   bool
	undone   chan struct{} // closed when the nodes of wasted grants have answered; nil without such nodes
}

// terms are decided by an Acquire before it makes an attempt.
type terms struct {
	start   lock.AttemptStart
	ts      hooks.Traces
	traced  context.Context // of the Acquire, for the lease
	queue   *nodes.Calls
	opts    lock.AcquireOptions
	since   time.Time // by the wall clock: the attempt is of then
	origin  nodes.Origin
	earlier []string // holder records of this Acquire's earlier attempts
	reserve uint64   // fences asked for: its own, and those to hand over
	gate    int      // index of the node whose queue is joined
	waiter  driver.Waiter

	semaphore *driver.Semaphore // whose slot it is; nil for other locks
}

func newAttempt(e *nodes.Set, t terms) *attempt {
	a := &attempt{
		terms: t, set: e, timeout: e.Config.NodeTimeout(t.opts.TTL),
		grants: make([]grant, len(e.Nodes)),
		ready:  await.NewSignal(),
	}
	a.ballot = ballot.Ballot{
		Resource: t.start.Resource, Key: t.queue.Key, Gate: t.gate, Names: e.Names, Timeout: a.timeout,
		Tally: quorum.Tally{Nodes: len(e.Nodes)},
	}
	a.req = driver.AcquireRequest{
		Key: t.queue.Key, Token: newToken(), Holder: e.HolderRecord(t.since, t.origin), TTL: t.opts.TTL, Run: t.reserve,
		Floor: uint64(max(t.since.UnixMicro(), 1)), Fair: t.opts.Fair, Window: nodes.HandoffWindow, Shared: &a.shared,
		Mode: modeOf(t.opts.Kind), Bar: barOf(e, &t.opts), Semaphore: t.semaphore,
	}
	for i, n := range e.Nodes {
		g := &a.grants[i]
		g.Node, g.round, g.index, g.calls = n, a, i, &t.queue.On[i]
	}
	return a
}

// carryOut makes the attempt. If it succeeds, a quorum of nodes has granted the lock. If it fails,
// the grants are given back in the background, and the result says why.
func (a *attempt) carryOut(ctx context.Context) ballot.Result {
	a.ctx = nodes.Values(ctx)
	a.began = a.set.Config.Clock()
	res := a.vote(ctx)
	if res.Err == nil {
		res.Err = a.agreeOnFence(ctx)
		res.Hopeless = errors.Is(res.Err, lock.ErrInvalidOption)
	}
	if res.Err == nil {
		a.validity = a.set.Validity(a.opts.TTL, a.began)
		if a.validity <= 0 {
			res.Err = fmt.Errorf("%w: %q took %v of a TTL of %v", lock.ErrTooLate, a.start.Resource,
				a.set.Config.Clock()-a.began, a.opts.TTL)
		}
	}
	res.GateRefused = a.grants[a.gate].known() == grantRefused
	if res.Err != nil {
		a.abandon()
	}
	return res
}

// end is the event of the end of the attempt.
func (a *attempt) end(took time.Duration, err error) lock.AttemptEnd {
	tally := a.ballot.Tally
	return lock.AttemptEnd{
		AttemptStart: a.start, Nodes: tally.Nodes, Quorum: a.set.Quorum,
		Granted: tally.Granted, Refused: tally.Refused, Failed: tally.Failed,
		Raised: a.raised, Validity: a.validity, Took: took, Err: err,
	}
}

// holder is the attempt's holder record.
func (a *attempt) holder() string { return a.req.Holder }

// dequeued reports that the gate, whose queue the attempt had joined, granted: it has taken this process out of it.
func (a *attempt) dequeued() bool { return a.waiter.Enqueue && a.grants[a.gate].has() }

// abandon releases the token on every node that may have it, in the background. A waiter
// that the gate granted keeps its position in the gate's queue.
func (a *attempt) abandon() {
	granters := &countdown{over: make(chan struct{})}
	granters.left.Store(1) // the end of this loop
	for i := range a.grants {
		g := &a.grants[i]
		g.giveUp()
		state := g.known()
		if a.ballot.Asked&(1<<i) == 0 || state == grantRefused && !g.mayArrive() {
			continue
		}
		u := &undoing{
			g: g, ctx: a.ctx, ts: a.ts, event: a.event(lock.OpRelease), timeout: a.timeout, withdraw: true,
			req: driver.ReleaseRequest{Key: a.req.Key, Token: a.req.Token, Mode: a.req.Mode},
		}
		if state == grantHeld {
			a.undone = granters.over
			granters.left.Add(1)
			u.report = &granter{granters: granters}
		}
		if i == a.gate {
			u.contender = a.queue.Contender
		}
		if i == a.gate && a.waiter.Enqueue {
			u.req.Waiter = a.waiter
		}
		g.calls.Do(u)
	}
	granters.done()
}

// settle waits until the nodes that granted have released again, so that the next caller does
// not find the resource held. The node timeout bounds it.
func (a *attempt) settle(ctx context.Context) {
	if a.undone == nil {
		return
	}
	timer := a.set.Timers.Start(a.timeout)
	defer a.set.Timers.Stop(timer)
	select {
	case <-a.undone:
	case <-timer.C:
	case <-ctx.Done():
	case <-a.set.Done:
	}
}
