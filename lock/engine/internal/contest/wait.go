package contest

import (
	"context"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/internal/attempt"
	"github.com/lockscope/lockscope/lock/engine/internal/await"
	"github.com/lockscope/lockscope/lock/engine/internal/ballot"
	"github.com/lockscope/lockscope/lock/engine/internal/deadlock"
	"github.com/lockscope/lockscope/lock/engine/internal/queue"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// woken has the channels that end a wait without an error; a nil channel never does.
type woken struct {
	wake  <-chan queue.WakeUp
	timer <-chan time.Time
	turn  <-chan struct{}
}

// until waits for the first of these channels. It fails if a deadlock, the end of ctx or the
// engine's Close ends the wait. hint is what wake received.
func (c *contest) until(ctx context.Context, w woken) (hint *queue.WakeUp, err error) {
	for {
		select {
		case got := <-w.wake:
			return &got, nil
		case <-w.timer:
			return nil, nil
		case <-w.turn:
			return nil, nil
		case <-c.graph.Suspects():
			c.graph.Recheck(func(d lock.DeadlockError) { c.req.Traces.Deadlock(c.req.Traced, d) })
		case d := <-c.graph.Notified():
			return nil, &d
		case <-ctx.Done():
			return nil, await.Ended(ctx)
		case <-c.engine.Done:
			return nil, lock.ErrClosed
		}
	}
}

// wait blocks until another attempt is worth while.
func (c *contest) wait(ctx context.Context, res ballot.Result) error {
	if c.takesOffer(res) || c.continuesRound(res) {
		return nil
	}
	p := c.pace.pause(c.engine.Config, res, standing{
		tries: c.tries, nodes: len(c.engine.Nodes), named: c.named, next: c.gate.first(), ahead: c.gate.ahead,
		probing: c.engine.Queues.Probing.Load(),
	})
	wasNamed := c.named
	c.named = false
	if p.d == 0 {
		return nil
	}
	p = c.untilRound(p)
	if bar := attempt.Bar(c.engine.Set, &c.req.Opts); bar > 0 {
		p.d = min(p.d, bar/3) // the bars of a writer must not run out
	}
	if p.often {
		c.engine.Queues.Probing.Add(1)
		defer c.engine.Queues.Probing.Add(-1)
	}
	c.waited = true
	e := locktrace.WaitStart{Resource: c.group.resource, Kind: p.kind, Ahead: c.gate.ahead, First: c.gate.first(), Last: res.Err}
	if p.kind == locktrace.WaitHolder {
		e.Blocker = res.Blocker
		c.line.Blocker.Store(res.Blocker)
	}
	c.line.First.Store(c.isFirst(wasNamed, res))
	defer c.line.First.Store(false)
	c.graph.Wait(c.waitsOn())
	hooked := c.req.Traces.WaitStart(ctx, e)
	began := time.Now()
	err := c.sleep(ctx, p, wasNamed)
	c.req.Traces.WaitEnd(hooked, locktrace.WaitEnd{WaitStart: e, Took: time.Since(began), Named: c.named, Err: err})
	return err
}

// isFirst reports that the next release will name this caller, or that one has. A caller that was named for one slot and
// refused by the gate may be behind others for the next slot.
func (c *contest) isFirst(wasNamed bool, res ballot.Result) bool {
	return res.Ticket > 0 && res.Ahead == 0 || wasNamed && !(c.group.any && res.GateRefused)
}

// waitsOn is the call's place in the graph of waits. A call that takes any of several members waits for all of them: see
// waitsForEither.
func (c *contest) waitsOn() *deadlock.Resource { return &c.queueOf(c.member).Graph }

// sleep waits until this process gets a hint, or the pause is over.
func (c *contest) sleep(ctx context.Context, p pause, wasNamed bool) error {
	timer, ends := time.NewTimer(p.d), time.Now().Add(p.d)
	defer timer.Stop()
	wake, early := woken{wake: c.line.Wake, timer: timer.C}, false
	hint, err := c.until(ctx, wake)
	for hint != nil && hint.Wasted {
		if !p.retry && !early {
			early = true
			timer.Reset(min(c.pace.wastedGrant(c.engine.Config), time.Until(ends)))
		}
		hint, err = c.until(ctx, wake)
	}
	switch {
	case err != nil:
	case hint != nil:
		c.named, c.pace.polls = hint.Named, 0
		c.followHint(*hint)
	case early && !c.roundDue():
		c.pace.polls++ // every other attempt does not leave the queue: see listens
	default:
		c.named = wasNamed && c.pace.namedInVain > 0
		if c.pace.polls++; !p.poll {
			c.pace.polls = 0
		}
		c.pollNext()
	}
	return err
}
