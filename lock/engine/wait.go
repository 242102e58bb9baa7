package engine

import (
	"context"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/internal/await"
)

func (a *acquisition) drainWake() {
	select {
	case w := <-a.queue.wake:
		a.named = a.named || w.named
	default:
	}
}

// wait blocks until another attempt is worth while.
func (a *acquisition) wait(ctx context.Context, res result) error {
	p := a.pause(res)
	wasNamed := a.named
	a.named = false
	if p.d == 0 {
		return nil
	}
	if p.often {
		a.engine.queues.looking.Add(1)
		defer a.engine.queues.looking.Add(-1)
	}
	a.waited = true
	e := lock.WaitStart{Resource: a.resource, Kind: p.kind, Ahead: res.ahead, Last: res.err}
	if p.kind == lock.WaitHolder {
		e.Blocker = res.blocker
		a.queue.blocker.Store(res.blocker)
	}
	a.queue.first.Store(wasNamed || res.ticket > 0 && res.ahead == 0)
	defer a.queue.first.Store(false)
	a.graph.Wait(&a.queue.graph)
	hooked := a.ts.WaitStart(ctx, e)
	began := time.Now()
	err := a.sleep(ctx, p, wasNamed)
	a.ts.WaitEnd(hooked, lock.WaitEnd{WaitStart: e, Took: time.Since(began), Named: a.named, Err: err})
	return err
}

// sleep is wait itself: until this process is told, or the pause is over.
func (a *acquisition) sleep(ctx context.Context, p pause, wasNamed bool) error {
	timer := time.NewTimer(p.d)
	defer timer.Stop()
	told, err := a.until(ctx, woken{wake: a.queue.wake, timer: timer.C})
	switch {
	case err != nil:
	case told != nil:
		a.named, a.polls = told.named, 0
	default:
		a.named = wasNamed && a.namedInVain > 0
		if a.polls++; !p.poll {
			a.polls = 0
		}
	}
	return err
}

// woken is what ends a wait well; what is nil never does.
type woken struct {
	wake  <-chan wakeUp
	timer <-chan time.Time
	turn  <-chan struct{}
}

// until waits for the first of it, or fails with what cuts every wait short. Meanwhile the
// call is in the graph of who waits for whom. told is what wake said.
func (a *acquisition) until(ctx context.Context, w woken) (told *wakeUp, err error) {
	for {
		select {
		case said := <-w.wake:
			return &said, nil
		case <-w.timer:
			return nil, nil
		case <-w.turn:
			return nil, nil
		case <-a.graph.Suspects():
			a.graph.LookAgain(func(d lock.Deadlock) { a.ts.Deadlock(a.traced, d) })
		case d := <-a.graph.Told():
			return nil, &lock.DeadlockError{Deadlock: d}
		case <-ctx.Done():
			return nil, await.Ended(ctx)
		case <-a.engine.done:
			return nil, lock.ErrClosed
		}
	}
}
