package lock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

// renewEvery leaves two more tries before a lease runs out.
func renewEvery(ttl time.Duration) time.Duration { return ttl / 3 }

// renewSoon is the pause after a round that could not tell.
func renewSoon(ttl time.Duration) time.Duration { return ttl / 20 }

// renewByTimer makes the round that is due, and arranges the next.
func (l *lease) renewByTimer() {
	next := renewEvery(l.attempt.opts.TTL)
	if outcome, _ := l.renew(l.traceCtx); outcome == RenewUnknown {
		next = renewSoon(l.attempt.opts.TTL)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended == nil && l.ctx.Err() == nil {
		now := l.engine.cfg.Clock()
		l.renewAt = now + next
		l.timer.Reset(l.untilDue(now))
	}
}

func (l *lease) Extend(ctx context.Context) error {
	if err := l.over(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return fmt.Errorf("lock: extend of %q was not begun: %w", l.resource, contextError(ctx))
	}
	_, err := l.renew(ctx)
	return err
}

// over is why the lease cannot be renewed any more; nil if it can.
func (l *lease) over() error {
	if cause := l.cause(); cause != nil {
		return fmt.Errorf("lock: lease of %q is over: %w", l.resource, cause)
	}
	if l.ctx.Err() != nil {
		return fmt.Errorf("lock: lease of %q is over: %w", l.resource, contextError(l.ctx))
	}
	return nil
}

// renew makes one round of renewal. The end of ctx, if there is one, cuts the waiting
// short.
func (l *lease) renew(ctx context.Context) (RenewOutcome, error) {
	select {
	case l.rounds <- struct{}{}:
		defer func() { <-l.rounds }()
	case <-ctx.Done():
		return RenewUnknown, fmt.Errorf("lock: extend of %q waited for another: %w", l.resource, contextError(ctx))
	}
	if err := l.over(); err != nil {
		return RenewLost, err
	}
	e := RenewStart{Resource: l.resource, Fence: l.fence, Remaining: l.Remaining()}
	hooked := l.ts.renewStart(ctx, e)
	began := time.Now()
	round := l.extendRound(hooked)
	if round.outcome == RenewLost {
		l.lose()
	}
	if len(l.ts) > 0 {
		l.ts.renewEnd(hooked, RenewEnd{
			RenewStart: e, Outcome: round.outcome, Granted: round.tally.granted, Refused: round.tally.refused,
			Failed: round.tally.failed, Refilled: round.refilled, Left: l.Remaining(),
			Took: time.Since(began), Err: round.err,
		})
	}
	return round.outcome, round.err
}

// renewal is what a round of renewal came to.
type renewal struct {
	tally    tally
	answers  []bool // by node
	refilled int
	errs     []*NodeError
	outcome  RenewOutcome
	err      error
}

// extension is one node's answer.
type extension struct {
	from   int
	answer driver.ExtendReply
	err    *NodeError
}

// extendRound asks every node. A quorum that prolonged the lease renews it from
// the instant before the first was asked; so many that no longer have it that no
// quorum is left mean it is lost; anything else can be tried again.
func (l *lease) extendRound(ctx context.Context) (r renewal) {
	a := l.attempt
	start := l.engine.cfg.Clock()
	answers := make(chan extension, len(a.grants))
	in := l.engine.newRound(ctx, len(a.grants))
	for i := range a.grants {
		l.extendOn(in, i, answers)
	}
	timer := time.NewTimer(l.engine.cfg.NodeTimeout)
	defer timer.Stop()
	r.tally.nodes, r.answers = len(a.grants), make([]bool, len(a.grants))
	var cut error
	for over := false; !over && !r.tally.won() && !r.tally.held() && r.answered() < len(a.grants); {
		select {
		case x := <-answers:
			r.count(x)
		case <-timer.C:
			over = true
		case <-ctx.Done():
			over, cut = true, contextError(ctx)
		}
	}
	l.conclude(&r, start, cut)
	return r
}

func (r *renewal) answered() int { return r.tally.granted + r.tally.refused + r.tally.failed }

func (r *renewal) count(x extension) {
	r.answers[x.from] = true
	switch {
	case x.err != nil:
		r.tally.failed++
		r.errs = append(r.errs, x.err)
	case x.answer == driver.ExtendDone:
		r.tally.granted++
	case x.answer == driver.ExtendRefilled:
		r.refilled++
		r.tally.refused++
	default:
		r.tally.refused++
	}
}

func (l *lease) conclude(r *renewal, start time.Duration, cut error) {
	ttl := l.attempt.opts.TTL
	switch {
	case r.tally.won():
		if l.prolong(start + ttl - Drift(ttl)) {
			r.outcome = RenewDone
			return
		}
		r.outcome, r.err = RenewLost, l.over()
	case r.tally.held():
		r.outcome = RenewLost
		r.err = fmt.Errorf("%w: %d of %d nodes no longer hold %q", ErrLost, r.tally.refused, r.tally.nodes, l.resource)
	case cut != nil && !tally{nodes: r.tally.nodes, failed: r.tally.failed}.lost():
		// What had failed by then decided nothing, and those still silent are not to blame.
		r.outcome = RenewUnknown
		r.err = fmt.Errorf("lock: extend of %q was cut short with %d of %d nodes having agreed: %w",
			l.resource, r.tally.granted, r.tally.nodes, errors.Join(append([]error{cut}, asErrors(r.errs)...)...))
	default:
		r.outcome = RenewUnknown
		e := l.attempt.quorumError(OpExtend)
		e.Granted, e.Refused, e.Errors = r.tally.granted, r.tally.refused, r.errs
		for i, answered := range r.answers {
			if !answered {
				r.tally.failed++
				e.addSilent(l.attempt.grants[i].Name())
			}
		}
		r.err = e
		if cut != nil {
			r.err = fmt.Errorf("%w: %w", cut, e)
		}
	}
}

func asErrors(nodes []*NodeError) (all []error) {
	for _, e := range nodes {
		all = append(all, e)
	}
	return all
}

// prolong moves the end of validity; it fails if the lease ended meanwhile, for
// then somebody else may already have been let in.
func (l *lease) prolong(expires time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.engine.cfg.Clock()
	if l.ended != nil || l.expires <= now || expires <= now {
		return false
	}
	l.expires = max(l.expires, expires)
	l.timer.Reset(l.untilDue(now))
	return true
}

// extendOn asks one node to prolong the lease, and to take it back where it was
// lost: only while the lease is valid, and only if there are others to vote.
func (l *lease) extendOn(in *round, i int, answers chan<- extension) {
	a := l.attempt
	g := &a.grants[i]
	g.calls.do(l.engine.workers, func() {
		defer in.done()
		if !g.open() || l.Remaining() <= 0 {
			answers <- extension{from: i, err: &NodeError{Node: g.Name(), Op: OpExtend, Err: fmt.Errorf("%w: the lease is over", driver.ErrNotSent)}}
			return
		}
		req := driver.ExtendRequest{
			Key: a.key, Token: a.token, TTL: a.opts.TTL, Refill: len(a.grants) > 1, Fence: l.fence, Holder: a.holder,
		}
		var answer driver.ExtendReply
		err := g.call(in.ctx, l.ts, NodeStart{Resource: l.resource, Op: OpExtend},
			func(ctx context.Context) (v Verdict, err error) {
				answer, err = g.Extend(ctx, req)
				if answer == driver.ExtendRefilled {
					return VerdictRefilled, err
				}
				return verdictOf(answer == driver.ExtendDone), err
			})
		if err != nil {
			g.set(grantUnknown, 0)
			answers <- extension{from: i, err: &NodeError{Node: g.Name(), Op: OpExtend, Err: err}}
			return
		}
		if answer == driver.ExtendDone || answer == driver.ExtendRefilled {
			g.set(grantHeld, 0)
		} else {
			g.set(grantRefused, 0)
		}
		answers <- extension{from: i, answer: answer}
	})
}
