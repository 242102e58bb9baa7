package lease

import (
	"context"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/await"
	"github.com/lockscope/lockscope/lock/engine/internal/ballot"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// renewSoon is the pause after a round with an unknown outcome.
func renewSoon(ttl time.Duration) time.Duration { return ttl / 20 }

// renewByTimer makes the round that is due, and arranges the next.
func (l *Lease) renewByTimer() {
	outcome, _ := l.renew(nodes.Values(l.traceCtx, l.ts))
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended == nil && l.ctx.Err() == nil {
		now := l.set.Config.Clock()
		l.renewAt = l.attempt.RenewAt(now)
		if outcome == locktrace.RenewUnknown {
			l.renewAt = now + renewSoon(l.attempt.Opts.TTL)
		}
		l.timer.Reset(l.untilDue(now))
	}
}

// Extend implements lock.Lease.
func (l *Lease) Extend(ctx context.Context) error {
	if err := l.over(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return fmt.Errorf("lock: extend of %q not started: %w", l.resource, await.Ended(ctx))
	}
	_, err := l.renew(ctx)
	return err
}

// over is why the lease cannot be renewed any more; nil if it can.
func (l *Lease) over() error {
	if cause := l.cause(); cause != nil {
		return fmt.Errorf("lock: lease of %q is over: %w", l.resource, cause)
	}
	if l.ctx.Err() != nil {
		return fmt.Errorf("lock: lease of %q is over: %w", l.resource, await.Ended(l.ctx))
	}
	return nil
}

// renew makes one round of renewal. The end of ctx, if there is one, cuts the waiting
// short.
func (l *Lease) renew(ctx context.Context) (locktrace.RenewOutcome, error) {
	slot := l.roundSlot()
	select {
	case slot <- struct{}{}:
		defer func() { <-slot }()
	case <-ctx.Done():
		return locktrace.RenewUnknown, fmt.Errorf("lock: extend of %q: stopped waiting for another: %w", l.resource,
			await.Ended(ctx))
	}
	if err := l.over(); err != nil {
		return locktrace.RenewLost, err
	}
	e := locktrace.RenewStart{Resource: l.resource, Fence: l.fence, Remaining: l.Remaining()}
	hooked := l.ts.RenewStart(ctx, e)
	began := time.Now()
	round := l.extendRound(hooked)
	switch {
	case round.outcome != locktrace.RenewLost:
	case round.revoked != nil:
		l.stop(round.revoked)
	default:
		l.Lose()
	}
	if len(l.ts) > 0 {
		l.ts.RenewEnd(hooked, locktrace.RenewEnd{
			RenewStart: e, Outcome: round.outcome, Granted: round.tally.Granted, Refused: round.tally.Refused,
			Failed: round.tally.Failed, Refilled: round.refilled, Left: l.Remaining(),
			Took: time.Since(began), Err: round.err,
		})
	}
	return round.outcome, round.err
}

// extendRound asks every node to prolong the lease. If a quorum does, the lease is renewed
// from the instant before the first node was asked: a node may carry the call out at once, and its answer may take a node
// timeout to come. Counted from the answer, the lease would outlive its keys by that long. If so many nodes no longer have
// it that no quorum is left, it is lost. Any other outcome is unknown, and the round can be repeated.
func (l *Lease) extendRound(ctx context.Context) *renewal {
	a := l.attempt
	r := &renewal{
		attempt: a, lease: l, ts: l.ts, ctx: nodes.Values(ctx, l.ts),
		began: l.set.Config.Clock(), deadline: time.Now().Add(a.Timeout),
		tally:      ballot.Tally{Nodes: len(a.Grants)},
		extensions: make([]extending, len(a.Grants)), ready: await.NewSignal(),
	}
	r.req = driver.ExtendRequest{
		Key: a.Req.Key, Token: a.Req.Token, TTL: a.Opts.TTL, Refill: len(a.Grants) > 1,
		Fence: l.fence, Last: l.last, Holder: l.holderRecord(), Rename: l.handedOver, Args: &r.args,
		Mode: a.Req.Mode, Semaphore: a.Semaphore,
	}
	r.sets.Asked = 1<<len(a.Grants) - 1
	for i := range r.extensions {
		x := &r.extensions[i]
		x.g, x.r = &a.Grants[i], r
		x.g.Calls.Do(x)
	}
	cut := l.set.Timers.Await(ctx, nil, a.Timeout, r.ready, r.isDecided)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	l.conclude(r, cut)
	return r
}

// roundSlot is taken by a round of renewal before it checks that the lease is valid. If endForNext,
// which has mu, finds the slot free, it can end the lease before the next round begins.
func (l *Lease) roundSlot() chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rounds == nil {
		l.rounds = make(chan struct{}, 1)
	}
	return l.rounds
}

func (l *Lease) conclude(r *renewal, cut error) {
	ttl := l.attempt.Opts.TTL
	if r.tally.Won() && l.prolong(r.began+ttl-nodes.Drift(ttl)) {
		r.outcome = locktrace.RenewDone
		return
	}
	cause := l.cause()
	switch {
	case cause != nil && lock.ReasonOf(cause) != lock.ReasonLost:
		// A release beside the round is no loss: the nodes may have refused because of it.
		r.outcome, r.err = locktrace.RenewOvertaken, l.over()
		return
	case r.tally.Won():
		r.outcome, r.err = locktrace.RenewLost, l.over()
		return
	case r.tally.Held() && r.revoked != nil:
		r.outcome = locktrace.RenewLost
		r.err = fmt.Errorf("lock: %d of %d nodes do not renew %q: %w", r.tally.Refused, r.tally.Nodes, l.resource, r.revoked)
	case r.tally.Held():
		r.outcome = locktrace.RenewLost
		r.err = fmt.Errorf("%w: %d of %d nodes no longer hold %q%s%s",
			lock.ErrLost, r.tally.Refused, r.tally.Nodes, l.resource, r.votes(), r.slotGone())
	case cut != nil && !ballot.Tally{Nodes: r.tally.Nodes, Failed: r.tally.Failed}.Lost():
		// What had failed by then decided nothing, and those still silent are not to blame.
		r.outcome = locktrace.RenewUnknown
		r.err = &ballot.CutError{
			Text: fmt.Sprintf("lock: extend of %q was cut short with %d of %d nodes having agreed%s: %v", l.resource,
				r.tally.Granted, r.tally.Nodes, r.votes(), cut),
			Errs: append([]error{cut}, r.errs.Errors()...),
		}
	default:
		r.outcome = locktrace.RenewUnknown
		r.err = r.noQuorum(cut)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unrenewed = r.err
}

// prolong moves the end of validity; it fails if the lease ended meanwhile, for
// then somebody else may already have been let in.
func (l *Lease) prolong(expires time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.set.Config.Clock()
	if l.ended != nil || l.expires <= now || expires <= now {
		return false
	}
	l.unrenewed = nil
	l.expires = max(l.expires, expires) // the timer goes off earlier at worst, and is set anew then
	return true
}
