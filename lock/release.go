package lock

import (
	"context"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

// releaseTimeouts is how many node timeouts a release waits for answers; what is
// still unanswered then goes on in the background.
const releaseTimeouts = 3

// startRelease asks every node to release, in the order of its calls. The events of
// the nodes descend from ctx, whose end is not heeded: see releaseRound.wait.
func (l *lease) startRelease(ctx context.Context) *releaseRound {
	a := l.attempt
	round := &releaseRound{
		lease: l, lost: l.cause() != ErrReleased, errs: make([]error, len(a.grants)),
		answers: make(chan releaseAnswer, 2*len(a.grants)), // a node that is asked again speaks twice
	}
	for i := range a.grants {
		g := &a.grants[i]
		call := releaseCall{
			ctx: ctx, ts: l.ts, event: NodeStart{Resource: l.resource, Op: OpRelease},
			req: driver.ReleaseRequest{Key: a.key, Token: a.token, Handoff: l.engine.cfg.handoffWindow()},
		}
		call.report = func(answer releaseAnswer) {
			if answer.reply.Named {
				l.engine.queues.markContended(a.key, call.req.Handoff)
			}
			answer.from = i
			round.answers <- answer
		}
		l.engine.submit(ctx, g.calls, func() { g.release(call) })
	}
	return round
}

// releaseRound collects what the nodes say to a release.
type releaseRound struct {
	lease                    *lease
	answers                  chan releaseAnswer
	lost                     bool // the lease was over before the release
	released, expired, taken int
	final                    int     // nodes that failed and will not be asked again
	errs                     []error // by node; nil once it has answered
}

// wait returns once a quorum has said what became of the lease, or all have, or ctx
// ends. The nodes go on being asked then.
func (r *releaseRound) wait(ctx context.Context) (ReleaseEnd, error) {
	cut := r.collect(ctx)
	outcome, err := r.outcome(cut)
	return ReleaseEnd{
		Outcome: outcome, Granted: r.released, Refused: r.expired + r.taken, Failed: r.failed(), Err: err,
	}, err
}

// collect returns why it stopped listening, if that was ctx.
func (r *releaseRound) collect(ctx context.Context) error {
	for len(r.answers) > 0 && !r.decided() {
		r.count(<-r.answers)
	}
	if r.decided() {
		return nil
	}
	timer := time.NewTimer(releaseTimeouts * r.lease.engine.cfg.NodeTimeout)
	defer timer.Stop()
	for !r.decided() {
		select {
		case a := <-r.answers:
			r.count(a)
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return contextError(ctx)
		}
	}
	return nil
}

func (r *releaseRound) count(a releaseAnswer) {
	if r.errs[a.from] != nil && a.err == nil && !r.lost {
		a.reply.Found = driver.FoundOwn // if not now, by the try whose answer did not come
	}
	r.errs[a.from] = a.err
	switch {
	case a.err != nil:
		if !a.retried {
			r.final++
		}
	case a.reply.Found == driver.FoundOwn:
		r.released++
	case a.reply.Found == driver.FoundOther:
		r.taken++
	default:
		r.expired++
	}
}

func (r *releaseRound) failed() (n int) {
	for _, err := range r.errs {
		if err != nil {
			n++
		}
	}
	return n
}

func (r *releaseRound) answered() int { return r.released + r.expired + r.taken }

// notHeld reports that so many nodes did not have the lease that no quorum can have
// had it: one that had, and released it, does not outvote them.
func (r *releaseRound) notHeld() bool {
	return tally{nodes: len(r.errs), refused: r.expired + r.taken}.held()
}

// decided reports that a quorum let the lease go, that so many did not have it that
// others may, or that nobody is left to ask. Whether somebody else has it by now is
// worth waiting for: any node may be the one that knows.
func (r *releaseRound) decided() bool {
	return r.answered()+r.final == len(r.errs) || r.released >= r.lease.engine.quorum || r.notHeld() && r.taken > 0
}

// outcome is what the answers amount to; cut is why no more were waited for. Only a
// quorum's word that it did not have the lease makes a release fail, and no node's
// word against it makes it succeed.
func (r *releaseRound) outcome(cut error) (Outcome, error) {
	e := &ReleaseError{Resource: r.lease.resource, Unknown: len(r.errs) - r.answered()}
	for i, err := range r.errs {
		if err != nil {
			e.Errors = append(e.Errors, &NodeError{Node: r.lease.attempt.grants[i].Name(), Op: OpRelease, Err: err})
		}
	}
	switch {
	case r.notHeld() && r.taken > 0:
		e.Outcome = OutcomeNotOwner
	case r.notHeld():
		e.Outcome = OutcomeExpired
	case r.answered() >= r.lease.engine.quorum:
		return OutcomeReleased, nil
	default:
		e.Outcome, e.Cut = OutcomeUnknown, cut
		e.spared = cut != nil && !tally{nodes: len(r.errs), failed: r.failed()}.lost()
	}
	return e.Outcome, e
}
