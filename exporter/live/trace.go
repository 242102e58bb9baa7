package live

import (
	"context"
	"errors"
	"time"

	"github.com/lockscope/lockscope/lock"
)

func (l *locker) newHooks() *lock.Trace {
	return &lock.Trace{
		AcquireStart: l.onAcquireStart,
		AttemptStart: l.onAttemptStart,
		AttemptEnd:   l.onAttemptEnd,
		NodeEnd:      l.onNodeEnd,
		NodeRestart:  l.onNodeRestart,
		Deadlock:     l.onDeadlock,
		WaitStart:    l.onWaitStart,
		WaitEnd:      l.onWaitEnd,
		RenewEnd:     l.onRenewEnd,
	}
}

func (l *locker) onAcquireStart(ctx context.Context, e lock.AcquireStart) context.Context {
	if c := l.callOf(ctx); c != nil {
		c.readTrace(ctx)
		c.place(l.board.sets.name(e.Backend.Name, e.Backend.Keyspace), e.CallSite, l.board.sets.held(e.Holding))
	}
	return ctx
}

// place keeps whose lock is wanted, where the call was made, and what its caller holds.
func (c *call) place(backend, callSite string, holding []lock.Held) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.backend = backend
	if callSite != "" || len(holding) > 0 {
		c.origin = &origin{callSite: callSite, holding: holding}
	}
}

func (l *locker) onAttemptStart(ctx context.Context, e lock.AttemptStart) context.Context {
	if c := l.callOf(ctx); c != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.doing, c.attempts, c.known, c.tried = doingAttempt, e.Attempt, nodeSet{}, time.Since(c.began)
	}
	return ctx
}

func (l *locker) onAttemptEnd(ctx context.Context, e lock.AttemptEnd) {
	defer contain()
	c := l.callOf(ctx)
	if c == nil {
		return
	}
	now := time.Now()
	held := heldBy(e.Err)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lastErr = e.Err; held != nil {
		// Not by what it took, as the step below: told late, for want of a processor, the refusal would seem to be younger than a
		// lease that was granted meanwhile.
		c.lastErr, c.blocker, c.toldAt, c.asOf = nil, held, now.Sub(c.began), c.tried
	}
	c.record(step{
		kind: stepAttempt, attempt: e.Attempt, start: c.startOf(now, e.Took), took: e.Took,
		outcome: attemptOutcome(e.Err, held), err: e.Err, blocker: held,
	})
}

// heldBy is who refused an attempt; nil if that is not why it failed.
func heldBy(err error) *lock.HeldError {
	held, ok := errors.AsType[*lock.HeldError](err)
	if !ok || lock.ReasonOf(err) != lock.ReasonHeld {
		return nil
	}
	return held
}

func attemptOutcome(err error, held *lock.HeldError) lock.Verdict {
	switch {
	case err == nil:
		return lock.VerdictGranted
	case held != nil:
		return lock.VerdictRefused
	default:
		return lock.VerdictFailed
	}
}

func (l *locker) onNodeEnd(ctx context.Context, e lock.NodeEnd) {
	defer contain()
	now := time.Now()
	node := l.board.nodes.done(now, e)
	c := l.callOf(ctx)
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch e.Op {
	case lock.OpAcquire:
		if e.Attempt == c.attempts {
			c.known.note(node, e.Verdict)
		}
	case lock.OpExtend:
		c.known.note(node, e.Verdict)
		return
	case lock.OpRaise:
	default:
		return
	}
	c.record(step{
		kind: stepNode, attempt: e.Attempt, start: c.startOf(now, e.Took), took: e.Took,
		name: e.Node, outcome: e.Verdict, err: e.Err, raise: e.Op == lock.OpRaise,
	})
}

func (l *locker) onNodeRestart(_ context.Context, e lock.NodeRestart) {
	defer contain()
	l.board.nodes.restarted(time.Now(), e)
}

func (l *locker) onWaitStart(ctx context.Context, e lock.WaitStart) context.Context {
	c := l.callOf(ctx)
	if c == nil {
		return ctx
	}
	now := time.Now()
	c.startWait(e, now)
	if e.Kind != lock.WaitBackoff {
		l.contend(c, e, now)
	}
	return ctx
}

func (c *call) startWait(e lock.WaitStart, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.doing, c.ahead, c.blocker, c.toldAt = e.Kind, e.Ahead, e.Blocker, now.Sub(c.began)
}

// contend notes a wait, and whom it is behind if the call was told.
func (l *locker) contend(c *call, e lock.WaitStart, now time.Time) {
	if e.Kind != lock.WaitHolder || e.Blocker == nil || e.Blocker.Holder.Instance == "" {
		c.shard.contend(c.id(), nil, false, now)
		return
	}
	c.shard.contend(c.id(), e.Blocker, !l.board.names(e.Blocker.Holder.Instance), now)
}

func (l *locker) onWaitEnd(ctx context.Context, e lock.WaitEnd) {
	defer contain()
	c := l.callOf(ctx)
	if c == nil {
		return
	}
	now := time.Now()
	outcome := waitOutcome(e)
	if e.Kind == lock.WaitHolder {
		l.contend(c, e.WaitStart, now) // until now it was held
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead = 0
	c.record(step{
		kind: stepWait, attempt: c.attempts, start: c.startOf(now, e.Took), took: e.Took,
		name: string(e.Kind), outcome: outcome, err: e.Err, blocker: e.Blocker,
	})
}

// waitOutcome says what ended a wait: somebody, the time set for it, or the reason
// why the whole call ends.
func waitOutcome(e lock.WaitEnd) lock.Verdict {
	switch {
	case e.Err != nil:
		return lock.Verdict(lock.ReasonOf(e.Err))
	case e.HandedOver:
		return waitHanded
	case e.Named || e.Kind == lock.WaitLocal:
		return waitWoken
	default:
		return waitTimeout
	}
}

func (l *locker) onRenewEnd(ctx context.Context, e lock.RenewEnd) {
	if c := l.callOf(ctx); c != nil && e.Outcome == lock.RenewDone {
		c.extended()
	}
}
