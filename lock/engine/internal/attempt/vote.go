package attempt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/ballot"
	"github.com/lockscope/lockscope/lock/engine/internal/callqueue"
	"github.com/lockscope/lockscope/lock/engine/internal/hooks"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// vote asks the nodes until the outcome is certain.
func (a *Attempt) vote(ctx context.Context) ballot.Result {
	a.Req.Waiter = a.Waiter
	a.Req.Waiter.Enqueue = false
	if a.Waiter.Enqueue || a.InLine() {
		joining := a.Req
		joining.Waiter, joining.Args, joining.Semaphore = a.Waiter, nil, a.Semaphore
		joining.Fair = joining.Fair || a.Yields
		a.gateReq = &joining
	}
	if a.Start.GateFirst {
		if res, over := a.voteAtGate(ctx); over {
			return res
		}
	}
	a.ask(1<<len(a.Grants)-1, a.Set.OnlyWait(ctx))
	err := a.await(ctx, a.Timeout)
	silent := false
	if err == nil && a.Waiter.Enqueue && a.Waiter.Ticket == 0 && !a.Start.GateFirst {
		silent, err = a.hearGate(ctx)
	}
	res := a.result(err)
	res.GateFault = silent
	return res
}

// hearGate waits for the gate if the others have refused without it. Their refusals decide the attempt, and nobody would
// name a caller that is in no queue: it would sleep for a poll interval beside a lock that is released meanwhile. A caller
// without a place in the gate's queue gets it with its call there, which is not made at all if the attempt is over before
// an earlier call has its answer.
func (a *Attempt) hearGate(ctx context.Context) (silent bool, err error) {
	a.mu.Lock()
	if !a.ballot.Tally.Lost() {
		a.mu.Unlock()
		return false, nil
	}
	a.ballot.GateOnly = true
	a.mu.Unlock()
	err = a.await(ctx, a.patience())
	a.mu.Lock()
	defer a.mu.Unlock()
	silent = err == nil && !a.ballot.Enough()
	a.ballot.GateOnly = false
	return silent, err
}

// voteAtGate asks the gate alone, which is enough if it refuses. If the gate is slower than
// usual, the other nodes are asked, too.
func (a *Attempt) voteAtGate(ctx context.Context) (res ballot.Result, over bool) {
	a.ballot.GateOnly = true
	a.ask(1<<a.Gate, callqueue.Waiter{})
	patience, hedged := a.hedge()
	err := a.await(ctx, patience)
	a.mu.Lock()
	a.ballot.GateOnly = false
	answered, refused, failed := a.ballot.Answered > 0, a.ballot.Tally.Refused > 0, a.ballot.Tally.Failed > 0
	otherSlots := a.ballot.OtherSlots() > 0
	a.mu.Unlock()
	switch {
	case err != nil:
		return a.result(err), true
	case !answered && hedged:
		a.Queue.Hedged.Store(true)
		return res, false
	case answered && a.Queue.Hedged.Load():
		a.Queue.Hedged.Store(false)
	}
	if otherSlots { // it may be the one node that is wrong
		return res, false
	}
	if refused || (failed || !answered) && a.Waiter.Enqueue {
		return a.turnedAway(), true
	}
	return res, false
}

const (
	// hedgeAfter is how many of its usual round trips the gate is waited for alone.
	hedgeAfter = 10
	minHedge   = 20 * time.Millisecond
)

// hedge is how long to wait for the gate alone, and whether to ask the others then. They are
// asked once until the gate answers: a busy gate must not cause a herd. A Fair caller always
// waits for the gate, for it must not overtake the queue.
func (a *Attempt) hedge() (patience time.Duration, hedged bool) {
	if a.Opts.Fair || a.Queue.Hedged.Load() {
		return a.Timeout, false
	}
	patience = a.patience()
	return patience, patience < a.Timeout
}

// patience is how long to wait for a gate that is as fast as usual.
func (a *Attempt) patience() time.Duration {
	usual := time.Duration(a.Grants[a.Gate].RoundTrip.Load())
	return min(max(hedgeAfter*usual, minHedge), a.Timeout)
}

// ask hands the acquire to those of a set of nodes that were not asked before, in the
// order of each node's calls.
func (a *Attempt) ask(nodes uint64, wait callqueue.Waiter) {
	a.mu.Lock()
	nodes &^= a.ballot.Asked
	a.ballot.Asked |= nodes
	a.mu.Unlock()
	deadline := time.Now().Add(a.Timeout)
	for i := range a.Grants {
		if nodes&(1<<i) != 0 {
			a.Grants[i].ask(deadline, wait)
		}
	}
}

// request returns the request to node i.
func (a *Attempt) request(i int) *driver.AcquireRequest {
	if i == a.Gate && a.gateReq != nil {
		return a.gateReq
	}
	return &a.Req
}

func (a *Attempt) event(op lock.Operation) locktrace.NodeStart {
	return locktrace.NodeStart{Resource: a.Start.Resource, Op: op, Attempt: a.Start.Attempt}
}

// acquireTrace passes the events of an acquire to the traces.
func (a *Attempt) acquireTrace() (context.Context, hooks.Traces, locktrace.NodeStart) {
	return a.ctx, a.Traces, a.event(lock.OpAcquire)
}

// voted takes a node's vote. A refusal in the name of an earlier attempt of this Acquire counts
// as a failure: no other holder has the node. As a refusal it would make the caller wait for itself, until the TTL of a key
// that its own release is about to take away.
func (a *Attempt) voted(from int, reply driver.AcquireReply, err error) {
	if err == nil && !reply.Granted && slices.Contains(a.Earlier, reply.Holder) {
		err = errOwnLeftover
	}
	if err == nil && a.otherSlots(reply) {
		err = &driver.SlotsError{Slots: a.Semaphore.Slots, Known: reply.Slots}
	}
	a.count(from, reply, err)
}

// errOwnLeftover says that a node still has what an earlier attempt of the same
// Acquire left there: it is on its way out, and nobody else's lock.
var errOwnLeftover = errors.New("previous attempt is still being rolled back")

// count takes a node's vote. A call whose caller stopped waiting is no failure of the node, and
// does not count: the wait for the ballot reports why it ended.
func (a *Attempt) count(from int, reply driver.AcquireReply, err error) {
	if errors.Is(err, driver.ErrUnheard) {
		return
	}
	a.mu.Lock()
	a.ballot.Count(from, reply, err)
	enough := a.ballot.Enough()
	a.mu.Unlock()
	if enough {
		a.Ready.Set()
	}
}

func (a *Attempt) enough() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.ballot.Enough()
}

// await waits for the ballot to have what it needs.
func (a *Attempt) await(ctx context.Context, patience time.Duration) error {
	return a.Set.Timers.Await(ctx, a.Set.Done, patience, a.Ready, a.enough)
}

// result closes the ballot; err is why it was cut short.
func (a *Attempt) result(err error) ballot.Result {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err == nil {
		a.ballot.TimeOut()
	}
	a.ballot.Closed = true
	return a.ballot.Result(err)
}

// turnedAway is the result of asking the gate alone and not being granted.
func (a *Attempt) turnedAway() ballot.Result {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ballot.TimeOut()
	a.ballot.Closed = true
	return a.ballot.TurnedAway()
}

// Unfinished is what the nodes had done when the attempt was cut short; nil if none had been asked.
func (a *Attempt) Unfinished() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ballot.Asked == 0 {
		return nil
	}
	return &ballot.CutError{
		Text: fmt.Sprintf("the attempt was cut short with %d of %d nodes having granted%s", a.ballot.Tally.Granted,
			len(a.Grants), a.Set.Names.Votes(a.ballot.Sets(), a.ballot.Failures).Text(lock.OpAcquire)),
		Errs: a.ballot.Failures.Errors(),
	}
}

// otherSlots reports that the node refused because it knows another number of slots.
func (a *Attempt) otherSlots(reply driver.AcquireReply) bool {
	return a.Semaphore != nil && reply.Slots != 0 && reply.Slots != a.Semaphore.Slots
}
