package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/internal/attempt"
)

// acquisition is one Acquire: the wait for its turn in this process, then the contention for the lock, and its lease.
type acquisition struct{ contender }

// acquireLease acquires within the wait budget.
func (a *acquisition) acquireLease() (*lease, error) {
	if err := a.endedBy(a.parent); err != nil {
		return nil, a.cut(err, nil)
	}
	wait := a.traced
	if a.opts.MaxWait > 0 {
		var cancel context.CancelFunc
		wait, cancel = context.WithTimeoutCause(wait, a.opts.MaxWait, lock.ErrMaxWait)
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
		l.lose()
		a.last = fmt.Errorf("%w: %q ran out while this process stood still", lock.ErrTooLate, a.resource)
		if a.opts.NoWait || a.attempts > 0 && a.attempts == a.opts.MaxAttempts {
			return nil, a.last
		}
		a.gate.ticket, a.gate.queued, a.gate.next = 0, 0, false // the grant has used them up
	}
}

// enterAndAcquire joins the resource's queue and acquires. The lease leaves the queue when it
// ends; late reports that it ran out before it could be returned.
func (a *acquisition) enterAndAcquire(ctx context.Context) (l *lease, late bool, err error) {
	a.queue = a.engine.queues.enter(a.key)
	defer func() {
		if l == nil {
			a.queue.leave()
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
	if a.opts.NoWait {
		return a.contend(ctx)
	}
	turn, err := a.awaitTurn(ctx)
	if err != nil {
		return attempt.Beginning{}, a.cut(err, a.queue.lastMet())
	}
	if turn != nil && turn.handed {
		return turn.from, nil
	}
	from, err := a.contend(ctx)
	if err != nil {
		a.queue.passTurn()
	}
	return from, err
}

// awaitTurn queues behind the other callers of this process. The lock may come with the turn;
// a caller that has given up by then gives it back.
func (a *acquisition) awaitTurn(ctx context.Context) (*turn, error) {
	turn := a.queue.takeTurn(&a.opts, a.graph.Leases())
	if turn == nil {
		return nil, nil
	}
	a.graph.Wait(&a.queue.graph)
	e := lock.WaitStart{Resource: a.resource, Kind: lock.WaitLocal}
	hooked, began := ctx, time.Time{}
	if len(a.ts) > 0 {
		e.Ahead, e.Front = a.queue.ahead(turn), a.queue.front
		e.Blocker, _ = e.Front()
		hooked, began = a.ts.WaitStart(ctx, e), time.Now()
	}
	_, err := a.until(ctx, woken{turn: turn.come})
	if err == nil && turn.handed {
		err = a.endedBy(ctx)
	}
	if err != nil && a.queue.giveUpTurn(turn) {
		<-turn.come // the lease before has ended
		a.giveBack(turn.from)
	}
	a.waited = true
	if len(a.ts) > 0 {
		a.ts.WaitEnd(hooked, lock.WaitEnd{
			WaitStart: e, Took: time.Since(began), HandedOver: err == nil && turn.handed, Err: err,
		})
	}
	return turn, err
}

// giveBack is for a caller that gives up at the instant of a hand-over: the next caller gets
// the lock, or it is released in the background.
func (a *acquisition) giveBack(from attempt.Beginning) {
	a.engine.queues.enter(a.key) // for the lease to leave
	l, _ := a.lease(from)
	l.giveBack()
}
