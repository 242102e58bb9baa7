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
	"github.com/lockscope/lockscope/lock/engine/internal/callqueue"
	"github.com/lockscope/lockscope/lock/engine/internal/quorum"
)

// releaseTimeouts is how many node timeouts a release waits for answers; what is
// still unanswered then goes on in the background.
const releaseTimeouts = 3

func (l *lease) Release(ctx context.Context) error {
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
		return fmt.Errorf("lock: release of %q is under way: %w", l.resource, await.Ended(ctx))
	}
}

func (l *lease) finishRelease(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done, l.releaseErr = true, err
	if l.released != nil {
		close(l.released)
	}
}

// releaseDone is closed when the first Release is done.
func (l *lease) releaseDone() <-chan struct{} {
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

func (l *lease) releaseOnce(ctx context.Context) error {
	e := lock.ReleaseStart{Resource: l.resource, Fence: l.fence}
	hooked, began := valuesOf(ctx), time.Time{}
	if len(l.ts) > 0 {
		e.Held, began = l.engine.cfg.Clock()-l.acquired, time.Now()
		hooked = l.ts.ReleaseStart(hooked, e)
	}
	var done lock.ReleaseEnd
	var err error
	if l.handOver() {
		done = lock.ReleaseEnd{Outcome: lock.OutcomeReleased, HandedOver: true}
	} else {
		done, err = l.releaseOnNodes(ctx, hooked)
	}
	if len(l.ts) > 0 {
		done.ReleaseStart, done.Took = e, time.Since(began)
		l.ts.ReleaseEnd(hooked, done)
	}
	return err
}

// releaseOnNodes gives the lock back. The events of the nodes descend from hooked.
func (l *lease) releaseOnNodes(ctx, hooked context.Context) (lock.ReleaseEnd, error) {
	lost := errors.Is(l.cause(), lock.ErrLost)
	held := l.end(lock.ErrReleased)
	round := l.startRelease(hooked, l.engine.onlyWait(ctx))
	l.passTurn()
	done, err := round.wait(ctx)
	if held {
		l.queue.leave()
	}
	var failure *lock.ReleaseError
	if errors.As(err, &failure) {
		failure.Lost = lost
	}
	return done, err
}

// startRelease asks every node to release, in the order of its calls. The events of
// the nodes descend from ctx, whose end is not heeded: see releaseRound.wait. wait is that
// of callqueue.Queue.doWaiting.
func (l *lease) startRelease(ctx context.Context, wait callqueue.Waiter) *releaseRound {
	a := l.attempt
	round := &releaseRound{
		lease: l, lost: l.cause() != lock.ErrReleased, ready: a.ready, undoings: make([]undoing, len(a.grants)),
	}
	values := valuesOf(ctx)
	round.sets.asked = 1<<len(a.grants) - 1
	for i := range round.undoings {
		u := &round.undoings[i]
		u.g, u.ctx, u.ts, u.event = &a.grants[i], values, l.ts, lock.NodeStart{Resource: l.resource, Op: lock.OpRelease}
		u.req = driver.ReleaseRequest{Key: a.req.Key, Token: a.req.Token, Handoff: handoffWindow}
		u.timeout, u.shared, u.report = a.timeout, &round.shared, round
		u.g.calls.DoWaiting(u, wait)
	}
	l.queue.released()
	return round
}

// releaseRound collects what the nodes say to a release.
type releaseRound struct {
	lease    *lease
	lost     bool // the lease was over before the release
	undoings []undoing
	shared   driver.Shared
	ready    await.Signal // set when it may be decided; nobody waits for the attempt any more

	mu                       sync.Mutex
	released, expired, taken int
	sets                     nodeSets
	final                    int // nodes that failed and will not be asked again
}

// releaseAnswered takes a node's answer; one that is asked again gives two.
func (r *releaseRound) releaseAnswered(a releaseAnswer) {
	r.mu.Lock()
	r.count(a)
	decided := r.decided()
	r.mu.Unlock()
	if decided {
		r.ready.Set()
	}
}

// wait returns once a quorum has said what became of the lease, or all have, or ctx
// ends. The nodes go on being asked then.
func (r *releaseRound) wait(ctx context.Context) (lock.ReleaseEnd, error) {
	l := r.lease
	cut := l.engine.timers.Await(ctx, nil, releaseTimeouts*l.attempt.timeout, r.ready, r.isDecided)
	r.mu.Lock()
	defer r.mu.Unlock()
	outcome, err := r.outcome(cut)
	return lock.ReleaseEnd{
		Outcome: outcome, Granted: r.released, Refused: r.expired + r.taken, Failed: r.failed(), Err: err,
	}, err
}

func (r *releaseRound) isDecided() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.decided()
}

func (r *releaseRound) count(a releaseAnswer) {
	if r.undoings[a.from].err != nil && a.err == nil && !r.lost {
		a.reply.Found = driver.FoundOwn // if not now, by the try whose answer did not come
	}
	r.undoings[a.from].err = a.err
	switch {
	case a.err != nil:
		if !a.retried {
			r.final++
		}
	case a.reply.Found == driver.FoundOwn:
		r.released++
		r.sets.granted |= 1 << a.from
	case a.reply.Found == driver.FoundOther:
		r.taken++
		r.sets.refused |= 1 << a.from
	default:
		r.expired++
		r.sets.refused |= 1 << a.from
	}
}

// failed counts the nodes that did; one that was not waited for did not.
func (r *releaseRound) failed() (n int) {
	for i := range r.undoings {
		if err := r.undoings[i].err; err != nil && !errors.Is(err, driver.ErrUnheard) {
			n++
		}
	}
	return n
}

func (r *releaseRound) answered() int { return r.released + r.expired + r.taken }

// notHeld reports that so many nodes did not have the lease that no quorum can have
// had it: one that had, and released it, does not outvote them.
func (r *releaseRound) notHeld() bool {
	return quorum.Tally{Nodes: len(r.undoings), Refused: r.expired + r.taken}.Held()
}

// decided reports that a quorum let the lease go, that so many did not have it that
// others may, or that nobody is left to ask. Whether somebody else has it by now is
// worth waiting for: any node may be the one that knows.
func (r *releaseRound) decided() bool {
	return r.answered()+r.final == len(r.undoings) || r.released >= r.lease.engine.quorum || r.notHeld() && r.taken > 0
}

// outcome is what the answers amount to; cut is why no more were waited for. Only a
// quorum's word that it did not have the lease makes a release fail, and no node's
// word against it makes it succeed.
func (r *releaseRound) outcome(cut error) (lock.Outcome, error) {
	if r.answered() >= r.lease.engine.quorum && !r.notHeld() {
		return lock.OutcomeReleased, nil
	}
	var failed failures
	for i := range r.undoings {
		if u := &r.undoings[i]; u.err != nil && !errors.Is(u.err, driver.ErrUnheard) {
			failed = append(failed, r.lease.attempt.grants.failure(i, lock.OpRelease, u.err))
		}
	}
	e := &lock.ReleaseError{
		Resource: r.lease.resource, Unknown: len(r.undoings) - r.answered(),
		Errors: failed.nodeErrors(), Votes: r.lease.attempt.grants.votes(r.sets, failed),
	}
	switch {
	case r.notHeld() && r.taken > 0:
		e.Outcome = lock.OutcomeNotOwner
	case r.notHeld():
		e.Outcome = lock.OutcomeExpired
	default:
		e.Outcome, e.Cut = lock.OutcomeUnknown, cut
	}
	return e.Outcome, e
}
