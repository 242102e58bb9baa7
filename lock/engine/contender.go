package engine

import (
	"context"
	"errors"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/attempt"
	"github.com/lockscope/lockscope/lock/engine/internal/ballot"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// contender is a caller that contends with other processes: attempts, and the waits between them.
type contender struct {
	caller
	backoff
	undecided undecided

	gate     gateQueue
	attempts int
	waited   bool
	named    bool     // the coming attempt follows a call by name
	last     error    // what the last attempt to be decided had met
	earlier  []string // holder records of the attempts before
}

// maxEarlier is how many earlier attempts a contender remembers, to recognize their keys.
const maxEarlier = 8

// contend attempts and waits until it has the lock or must stop.
func (a *contender) contend(ctx context.Context) (attempt.Beginning, error) {
	a.engine.WarmUp(ctx)
	for {
		a.attempts++
		try, res := a.try(ctx)
		if res.Err == nil {
			a.Queue.Blocker.Store(nil)
			a.Queue.Met.Store(nil)
			a.leave(ctx, try)
			return try.Won(), nil
		}
		a.remember(try, res)
		if ended := a.endedBy(ctx); ended != nil {
			a.leave(ctx, nil)
			if a.last == nil {
				a.last = a.Queue.LastMet()
			}
			if a.last == nil {
				a.last = try.Unfinished()
			}
			return attempt.Beginning{}, a.cut(ended, a.last)
		}
		if a.Opts.NoWait && !a.undecided.again(res) || res.Hopeless || a.spent() {
			try.Settle(ctx)
			a.leave(ctx, nil)
			return attempt.Beginning{}, a.undecided.most(res.Err)
		}
		if err := a.beforeNext(ctx, res); err != nil {
			a.leave(ctx, nil)
			return attempt.Beginning{}, a.cut(err, a.last)
		}
	}
}

// remember keeps the holder record of a failed attempt, and why it failed, unless only its
// context had ended.
func (a *contender) remember(try *attempt.Attempt, res ballot.Result) {
	a.earlier = append(a.earlier[max(0, len(a.earlier)-maxEarlier):], try.Holder())
	switch {
	case errors.Is(res.Err, lock.ErrHeld), errors.Is(res.Err, lock.ErrTooLate), errors.Is(res.Err, lock.ErrNoQuorum):
		a.last = res.Err
	case res.Blocker != nil:
		a.last = res.Blocker
	default:
		return
	}
	met := a.last
	a.Queue.Met.Store(&met)
}

// cut is the error of a call that err cut short; last is why its last attempt failed.
func (a *contender) cut(err, last error) error {
	return &lock.WaitError{Resource: a.Resource, Attempts: a.attempts, Waited: time.Since(a.began), Last: last,
		Err: err}
}

// try makes one attempt. It asks all nodes at once if the lock is likely free or this waiter
// was named, and otherwise the gate first, so that a refusal costs one node only.
func (a *contender) try(ctx context.Context) (*attempt.Attempt, ballot.Result) {
	try := attempt.New(a.engine.Set, a.terms(ctx))
	hooked := a.Traces.AttemptStart(ctx, try.Start)
	began := time.Now()
	res := try.Run(hooked)
	if len(a.Traces) > 0 {
		a.Traces.AttemptEnd(hooked, try.End(time.Since(began), res.Err))
	}
	a.gate.note(try.Gate, try.Waiter.Enqueue, res)
	a.noteSlot(try, res)
	if res.Err != nil {
		a.gate.barred |= try.Barred()
	}
	if res.GateRefused {
		a.wasted = 0
	}
	return try, res
}

// terms are those of the coming attempt. The time is taken before waiter, which may have to
// subscribe on the gate first.
func (a *contender) terms(ctx context.Context) attempt.Terms {
	a.drainWake()
	t := attempt.Terms{
		Start:  locktrace.AttemptStart{Resource: a.Resource, Attempt: a.attempts, GateFirst: a.gateFirst()},
		Traces: a.Traces, Traced: a.Traced, Queue: &a.Queue.Calls, Opts: a.Opts, Since: time.Now(), Origin: a.Origin,
		Earlier: a.earlier, Reserve: a.reserve(), Gate: a.gate.choose(a.line, a.engine.Nodes),
		Semaphore: a.semaphore(),
	}
	if a.any != nil {
		a.toSlot(&t)
	}
	t.Waiter = a.waiter(ctx, t.Gate)
	return t
}

// waiter is this process in the gate's queue, which it joins if the gate can name it.
func (a *contender) waiter(ctx context.Context, gate int) driver.Waiter {
	joins := !a.Opts.NoWait && a.listens(ctx, a.engine.Nodes[gate])
	w := driver.Waiter{ID: a.engine.ID, Ticket: a.gate.ticket, Enqueue: joins}
	if w.Enqueue {
		w.Record = a.entry()
	}
	return w
}

// gateFirst decides whether the coming attempt asks the gate before the others. After a poll
// interval without news it asks all nodes: the gate may be the one node that is wrong. A Fair
// caller could overtake others that way, so it does that only every other time, and not when it was
// named: it may have been named for the call before it. A writer that waits has to keep readers out on
// all nodes.
func (a *contender) gateFirst() bool {
	if a.engine.Quorum == 1 && len(a.engine.Nodes) == 1 || attempt.Bar(a.engine.Set, &a.Opts) > 0 {
		return false
	}
	switch {
	case a.Opts.Fair:
		return a.polls%2 == 0
	case a.named:
		return false
	case a.any != nil && !a.gate.first():
		return true // only the first in the queue may ask the others without a name
	case a.attempts == 1:
		return a.waited || a.engine.Contended.Has(a.line)
	}
	return a.polls == 0
}

// listens makes sure that a release on this node can name this process before it queues
// there. A first attempt never waits for a subscription: without one it does not queue.
func (a *contender) listens(ctx context.Context, n *nodes.Node) bool {
	if n.Listening.Load() {
		return a.polls%2 == 0
	}
	if a.attempts == 1 && a.any == nil || n.Mute.Load() {
		return false
	}
	e := locktrace.NodeStart{Resource: a.Resource, Op: lock.OpSubscribe, Attempt: a.attempts}
	return n.Listen(ctx, a.Traces, e, a.engine.Config.NodeTimeout(a.Opts.TTL), a.engine.wakeUp(n))
}

// A grant reserves fencesPerWaiter for each caller that waits behind it, and at most maxRun.
// That is more than are handed over in 10 ms, and fewer than the microseconds in 10 ms, by which
// counters rise anyway.
const (
	fencesPerWaiter = 256
	maxRun          = 8192
)

// reserve is how many fences the next attempt asks for: one for its own lease, and more if
// callers of this process wait for a hand-over.
func (a *contender) reserve() uint64 {
	if a.any != nil {
		return 1
	}
	if a.Opts.NoWait || !attempt.HandsOver(&a.Opts) {
		return 1
	}
	return uint64(min(max(fencesPerWaiter*a.Queue.Waiting(), 1), maxRun))
}

// drainWake takes a hint that came before the coming attempt.
func (a *contender) drainWake() {
	select {
	case w := <-a.Queue.Wake:
		a.named = a.named || w.Named
		a.told(w)
	default:
	}
}

// wait blocks until another attempt is worth while.
func (a *contender) wait(ctx context.Context, res ballot.Result) error {
	if a.any != nil && a.takesOffer(res) {
		return nil
	}
	p := a.pause(a.engine.Config, res, standing{
		tries: a.attempts, nodes: len(a.engine.Nodes), named: a.named, next: a.gate.first(), ahead: a.gate.ahead,
		looking: a.engine.queues.Looking.Load(),
	})
	wasNamed := a.named
	a.named = false
	if p.d == 0 {
		return nil
	}
	p.d = a.looksAgain(p.d)
	if p.often {
		a.engine.queues.Looking.Add(1)
		defer a.engine.queues.Looking.Add(-1)
	}
	a.waited = true
	e := locktrace.WaitStart{Resource: a.Resource, Kind: p.kind, Ahead: a.gate.ahead, First: a.gate.first(), Last: res.Err}
	if p.kind == locktrace.WaitHolder {
		e.Blocker = res.Blocker
		a.Queue.Blocker.Store(res.Blocker)
	}
	a.Queue.First.Store(a.isFirst(wasNamed, res))
	defer a.Queue.First.Store(false)
	a.graph.Wait(a.waitsOn())
	hooked := a.Traces.WaitStart(ctx, e)
	began := time.Now()
	err := a.sleep(ctx, p, wasNamed)
	a.Traces.WaitEnd(hooked, locktrace.WaitEnd{WaitStart: e, Took: time.Since(began), Named: a.named, Err: err})
	return err
}

// isFirst reports that the next release will name this caller, or that one has. A caller that was named for one slot and
// refused by the gate may be behind others for the next slot.
func (a *contender) isFirst(wasNamed bool, res ballot.Result) bool {
	return res.Ticket > 0 && res.Ahead == 0 || wasNamed && (a.any == nil || !res.GateRefused)
}

// sleep waits until this process gets a hint, or the pause is over.
func (a *contender) sleep(ctx context.Context, p pause, wasNamed bool) error {
	timer, ends := time.NewTimer(p.d), time.Now().Add(p.d)
	defer timer.Stop()
	wake, early := woken{wake: a.Queue.Wake, timer: timer.C}, false
	told, err := a.until(ctx, wake)
	for told != nil && told.Wasted {
		if !p.retry && !early {
			early = true
			timer.Reset(min(a.wastedGrant(a.engine.Config), time.Until(ends)))
		}
		told, err = a.until(ctx, wake)
	}
	switch {
	case err != nil:
	case told != nil:
		a.named, a.polls = told.Named, 0
		a.told(*told)
	case early:
		a.polls++ // every other attempt does not leave the queue: see listens
	default:
		a.named = wasNamed && a.namedInVain > 0
		if a.polls++; !p.poll {
			a.polls = 0
		}
		a.toNextSlot()
	}
	return err
}
