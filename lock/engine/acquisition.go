package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/internal/attempt"
	"github.com/lockscope/lockscope/lock/engine/internal/lease"
	"github.com/lockscope/lockscope/lock/engine/internal/queue"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// acquisition is one Acquire: the wait for its turn in this process, then the contention for the lock, and its lease.
type acquisition struct{ contender }

// acquireLease acquires within the wait budget.
func (a *acquisition) acquireLease() (*lease.Lease, error) {
	if err := a.endedBy(a.Parent); err != nil {
		return nil, a.cut(err, nil)
	}
	wait := a.Traced
	if a.Opts.MaxWait > 0 {
		var cancel context.CancelFunc
		wait, cancel = context.WithTimeoutCause(wait, a.Opts.MaxWait, lock.ErrMaxWait)
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
		l.Lose()
		a.last = fmt.Errorf("%w: %q ran out while this process stood still", lock.ErrTooLate, a.Resource)
		if a.Opts.NoWait || a.attempts > 0 && a.spent() {
			return nil, a.last
		}
		a.gate.ticket, a.gate.queued, a.gate.next, a.gate.ahead = 0, 0, false, 0 // the grant has used them up
	}
}

// enterAndAcquire joins the resource's queue and acquires. The lease leaves the queue when it
// ends; late reports that it ran out before it could be returned.
func (a *acquisition) enterAndAcquire(ctx context.Context) (l *lease.Lease, late bool, err error) {
	if a.any != nil {
		return a.enterLine(ctx)
	}
	a.Queue = a.engine.queues.Enter(a.key)
	defer func() {
		if l == nil {
			a.Queue.Leave()
		}
	}()
	from, err := a.acquire(ctx)
	if err != nil {
		return nil, false, err
	}
	l, late = a.lease(from)
	return l, late, nil
}

// acquire waits for its turn, and for the lock. If it succeeds, it still has the turn.
func (a *acquisition) acquire(ctx context.Context) (attempt.Beginning, error) {
	defer a.graph.End()
	if a.Opts.NoWait {
		return a.contend(ctx)
	}
	turn, err := a.awaitTurn(ctx)
	if err != nil {
		return attempt.Beginning{}, a.cut(err, a.Queue.LastMet())
	}
	if turn != nil && turn.Handed {
		return turn.From, nil
	}
	from, err := a.contend(ctx)
	if err != nil && a.any == nil {
		a.Queue.PassTurn()
	}
	return from, err
}

// awaitTurn queues behind the other callers of this process. The lock may come with the turn;
// a caller that has given up by then gives it back.
func (a *acquisition) awaitTurn(ctx context.Context) (*queue.Turn, error) {
	turn := a.Queue.TakeTurn(&a.Opts, a.graph.Leases())
	if turn == nil {
		return nil, nil
	}
	a.graph.Wait(a.waitsOn())
	e := locktrace.WaitStart{Resource: a.Resource, Kind: locktrace.WaitLocal}
	hooked, began := ctx, time.Time{}
	if len(a.Traces) > 0 {
		e.Ahead, e.Front = a.Queue.Ahead(turn), a.Queue.Front
		e.Blocker, _ = e.Front()
		hooked, began = a.Traces.WaitStart(ctx, e), time.Now()
	}
	_, err := a.until(ctx, woken{turn: turn.Come})
	if err == nil && turn.Handed {
		err = a.endedBy(ctx)
	}
	if err != nil && a.Queue.GiveUpTurn(turn) {
		<-turn.Come // the lease before has ended
		a.giveBack(turn.From)
	}
	a.waited = true
	if len(a.Traces) > 0 {
		a.Traces.WaitEnd(hooked, locktrace.WaitEnd{
			WaitStart: e, Took: time.Since(began), HandedOver: err == nil && turn.Handed, Err: err,
		})
	}
	return turn, err
}

// GiveBack is for a caller that gives up at the instant of a hand-over: the next caller gets
// the lock, or it is released in the background.
func (a *acquisition) giveBack(from attempt.Beginning) {
	a.engine.queues.Enter(a.key) // for the lease to leave
	l, _ := a.lease(from)
	l.GiveBack()
}
