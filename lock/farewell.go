package lock

import (
	"context"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

// partingTimeouts is how many node timeouts a release waits for answers; what is
// still unanswered then goes on in the background.
const partingTimeouts = 3

// giveBack releases on every node, in the order of its line, and waits until a
// quorum has said what became of the lease, or all have, or ctx ends.
func (l *lease) giveBack(values, ctx context.Context) (ReleaseEnd, error) {
	a := l.attempt
	answers := make(chan parting, 2*len(a.seats)) // a node that is asked again speaks twice
	req := driver.ReleaseRequest{Key: a.key, Token: a.token, Handoff: l.r.cfg.handoffWindow()}
	for i := range a.seats {
		s := &a.seats[i]
		said := func(p parting) {
			if p.reply.Named {
				l.r.places.markContended(a.key, req.Handoff)
			}
			p.seat = i
			answers <- p
		}
		l.r.submit(ctx, s.line, func() {
			s.release(values, l.r, l.ts, NodeStart{Resource: l.resource, Op: OpRelease}, req, true, said)
		})
	}
	f := farewell{l: l, lost: l.cause() != ErrReleased, errs: make([]error, len(a.seats))}
	cut := f.collect(ctx, answers)
	outcome, err := f.outcome(cut)
	return ReleaseEnd{
		Outcome: outcome, Granted: f.released, Refused: f.expired + f.taken, Failed: f.failed(), Err: err,
	}, err
}

// farewell collects what the nodes say to a release.
type farewell struct {
	l                        *lease
	lost                     bool // the lease was over before the release
	released, expired, taken int
	final                    int     // nodes that failed and will not be asked again
	errs                     []error // by seat; nil once it has answered
}

// collect returns why it stopped listening, if that was ctx.
func (f *farewell) collect(ctx context.Context, answers <-chan parting) error {
	for len(answers) > 0 && !f.decided() {
		f.count(<-answers)
	}
	if f.decided() {
		return nil
	}
	timer := time.NewTimer(partingTimeouts * f.l.r.cfg.NodeTimeout)
	defer timer.Stop()
	for !f.decided() {
		select {
		case p := <-answers:
			f.count(p)
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return contextError(ctx)
		}
	}
	return nil
}

func (f *farewell) count(p parting) {
	if f.errs[p.seat] != nil && p.err == nil && !f.lost {
		p.reply.Found = driver.FoundOwn // if not now, by the try whose answer did not come
	}
	f.errs[p.seat] = p.err
	switch {
	case p.err != nil:
		if !p.owed {
			f.final++
		}
	case p.reply.Found == driver.FoundOwn:
		f.released++
	case p.reply.Found == driver.FoundOther:
		f.taken++
	default:
		f.expired++
	}
}

func (f *farewell) failed() (n int) {
	for _, err := range f.errs {
		if err != nil {
			n++
		}
	}
	return n
}

func (f *farewell) told() int { return f.released + f.expired + f.taken }

// notHeld reports that so many nodes did not have the lease that no quorum can have
// had it: one that had, and released it, does not outvote them.
func (f *farewell) notHeld() bool {
	return tally{nodes: len(f.errs), refused: f.expired + f.taken}.held()
}

// decided reports that a quorum let the lease go, that so many did not have it that
// others may, or that nobody is left to ask. Whether somebody else has it by now is
// worth waiting for: any node may be the one that knows.
func (f *farewell) decided() bool {
	return f.told()+f.final == len(f.errs) || f.released >= f.l.r.quorum || f.notHeld() && f.taken > 0
}

// outcome is what the answers amount to; cut is why no more were waited for. Only a
// quorum's word that it did not have the lease makes a release fail, and no node's
// word against it makes it succeed.
func (f *farewell) outcome(cut error) (Outcome, error) {
	e := &ReleaseError{Resource: f.l.resource, Unknown: len(f.errs) - f.told()}
	for i, err := range f.errs {
		if err != nil {
			e.Errors = append(e.Errors, &NodeError{Node: f.l.attempt.seats[i].Name(), Op: OpRelease, Err: err})
		}
	}
	switch {
	case f.notHeld() && f.taken > 0:
		e.Outcome = NotOwner
	case f.notHeld():
		e.Outcome = Expired
	case f.told() >= f.l.r.quorum:
		return Released, nil
	default:
		e.Outcome, e.Cut = Unknown, cut
		e.spared = cut != nil && !tally{nodes: len(f.errs), failed: f.failed()}.lost()
	}
	return e.Outcome, e
}
