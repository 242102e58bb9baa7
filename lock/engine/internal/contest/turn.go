package contest

import (
	"context"
	"time"

	"github.com/lockscope/lockscope/lock/engine/internal/attempt"
	"github.com/lockscope/lockscope/lock/engine/internal/lease"
	"github.com/lockscope/lockscope/lock/engine/internal/queue"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// awaitTurn queues behind the other callers of this process. The lock may come with the turn;
// a caller that has given up by then gives it back.
func (c *contest) awaitTurn(ctx context.Context) (*queue.Turn, error) {
	turn := c.line.TakeTurn(&c.req.Opts, c.graph.Leases())
	if turn == nil {
		return nil, nil
	}
	c.graph.Wait(c.waitsOn())
	e := locktrace.WaitStart{Resource: c.group.resource, Kind: locktrace.WaitLocal}
	hooked, began := ctx, time.Time{}
	if len(c.req.Traces) > 0 {
		e.Ahead, e.Front = c.line.Ahead(turn), c.line.Front
		e.Blocker, _ = e.Front()
		hooked, began = c.req.Traces.WaitStart(ctx, e), time.Now()
	}
	_, err := c.until(ctx, woken{turn: turn.Come})
	if err == nil && turn.Handed {
		err = c.endedBy(ctx)
	}
	if err != nil && c.line.GiveUpTurn(turn) {
		<-turn.Come // the lease before has ended
		c.giveBack(turn.From)
	}
	c.waited = true
	if len(c.req.Traces) > 0 {
		c.req.Traces.WaitEnd(hooked, locktrace.WaitEnd{
			WaitStart: e, Took: time.Since(began), HandedOver: err == nil && turn.Handed, Err: err,
		})
	}
	return turn, err
}

// giveBack is for a caller that gives up at the instant of a hand-over: the next caller gets
// the lock, or it is released in the background.
func (c *contest) giveBack(from attempt.Beginning) {
	c.req.Queue, c.req.HasTurn = c.engine.Queues.Enter(c.group.key), true // for the lease to leave
	l, _ := lease.New(c.engine.Set, c.engine.Leases, &c.req, from)
	l.GiveBack()
}
