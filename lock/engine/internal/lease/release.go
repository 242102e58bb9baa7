package lease

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/attempt"
	"github.com/lockscope/lockscope/lock/engine/internal/await"
	"github.com/lockscope/lockscope/lock/engine/internal/callqueue"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
	"github.com/lockscope/lockscope/lock/engine/records"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// Release implements lock.Lease.
func (l *Lease) Release(ctx context.Context) error {
	if l.releasing.CompareAndSwap(false, true) {
		var err error
		defer func() { l.finishRelease(err) }()
		err = l.releaseOnce(ctx)
		return err
	}
	select {
	case <-l.releaseDone():
		return l.releaseErr
	case <-ctx.Done():
		return fmt.Errorf("lock: release of %q is still under way: %w", l.resource, await.Ended(ctx))
	}
}

func (l *Lease) finishRelease(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done, l.releaseErr = true, err
	if l.released != nil {
		close(l.released)
	}
}

// releaseDone is closed when the first Release is done.
func (l *Lease) releaseDone() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.released == nil {
		l.released = make(chan struct{})
		if l.done {
			close(l.released)
		}
	}
	return l.released
}

func (l *Lease) releaseOnce(ctx context.Context) error {
	e := locktrace.ReleaseStart{Resource: l.resource, Fence: l.fence}
	hooked, began := nodes.Values(ctx, l.ts), time.Time{}
	if len(l.ts) > 0 {
		e.HeldFor, began = l.set.Config.Clock()-l.acquired, time.Now()
		hooked = l.ts.ReleaseStart(hooked, e)
	}
	var done locktrace.ReleaseEnd
	var err error
	if l.handOver() {
		done = locktrace.ReleaseEnd{Outcome: lock.OutcomeReleased, HandedOver: true}
	} else {
		done, err = l.releaseOnNodes(ctx, hooked)
	}
	if len(l.ts) > 0 {
		done.ReleaseStart, done.Took = e, time.Since(began)
		l.ts.ReleaseEnd(hooked, done)
	}
	return err
}

// releaseOnNodes releases the lock on the nodes. The events of the nodes descend from hooked.
func (l *Lease) releaseOnNodes(ctx, hooked context.Context) (locktrace.ReleaseEnd, error) {
	lost := errors.Is(l.cause(), lock.ErrLost)
	first := l.end(lock.ErrReleased)
	round := l.startRelease(hooked, l.set.OnlyWait(ctx))
	l.passTurn()
	done, err := round.wait(ctx)
	if first {
		l.queue.Leave()
	}
	if failure, ok := errors.AsType[*lock.ReleaseError](err); ok {
		failure.Lost = lost
	}
	return done, err
}

// keep is for how long the nodes keep the lock after the release of a lease that was used.
func (l *Lease) keep() attempt.Keep {
	if l.attempt.Opts.MinHold == 0 {
		return attempt.Keep{}
	}
	return attempt.Keep{Until: l.acquired + l.attempt.Opts.MinHold, Holder: records.Done(l.attempt.Holder())}
}

// startRelease sends a release to every node, in the order of the node's calls. The traces of
// the nodes descend from ctx, whose end does not stop the releases. wait is the caller that
// only waits, as in callqueue.Queue.DoWaiting.
func (l *Lease) startRelease(ctx context.Context, wait callqueue.Waiter) *releaseRound {
	a := l.attempt
	round := &releaseRound{
		attempt: a, lost: l.cause() != lock.ErrReleased, ready: a.Ready,
	}
	round.undoings = nodes.OneEach(round.one[:], len(a.Grants))
	values := nodes.Values(ctx, l.ts)
	round.sets.Asked = 1<<len(a.Grants) - 1
	for i := range round.undoings {
		u := &round.undoings[i]
		u.Grant, u.Ctx, u.Traces, u.Event = &a.Grants[i], values, l.ts, locktrace.NodeStart{Resource: l.resource, Op: lock.OpRelease}
		u.Req = driver.ReleaseRequest{
			Key: a.Req.Key, Token: a.Req.Token, Handoff: nodes.HandoffWindow, Mode: a.Req.Mode, Semaphore: a.Semaphore,
		}
		u.Timeout, u.Args, u.Report, u.Keep = a.Timeout, &round.args, round, l.keep()
		u.Queue(wait)
	}
	if a.Req.Mode != driver.Read { // other readers may be left: the nodes know
		l.queue.Released()
	}
	if a.Semaphore != nil {
		l.queue.ReleasedSlot(a.Semaphore)
	}
	return round
}
