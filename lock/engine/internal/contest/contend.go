package contest

import (
	"context"
	"errors"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/internal/attempt"
	"github.com/lockscope/lockscope/lock/engine/internal/ballot"
)

// maxEarlier is how many earlier attempts a call remembers, to recognize their keys.
const maxEarlier = 8

// contend attempts and waits until it has a member of the group or must stop. It queues on the nodes, and leaves their
// queues.
//
// It queues with its first refusal, before it has asked for the other members. Otherwise: slot 0 refuses the call; while it
// asks for slot 1, slot 0 is released, to nobody; then the call queues, and sleeps beside a free slot (counterexample 56 of
// lock/proof/spec).
func (c *contest) contend(ctx context.Context) (attempt.Beginning, error) {
	c.engine.WarmUp(ctx)
	c.tries, c.member = 0, c.group.home
	for {
		try, res := c.try(ctx)
		if res.Err == nil {
			c.line.Blocker.Store(nil)
			c.line.Met.Store(nil)
			c.leave(ctx, try)
			return try.Won(), nil
		}
		if ended := c.endedBy(ctx); ended != nil {
			c.leave(ctx, nil)
			return attempt.Beginning{}, c.cut(ended, c.lastOr(try))
		}
		if res.Hopeless || c.spent() {
			try.Settle(ctx)
			c.leave(ctx, nil)
			return attempt.Beginning{}, c.failed(res.Err)
		}
		if err := c.wait(ctx, res); err != nil {
			c.leave(ctx, nil)
			return attempt.Beginning{}, c.cut(err, c.last)
		}
	}
}

// try makes one attempt. It asks all nodes at once if the lock is likely free or this waiter
// was named, and otherwise the gate first, so that a refusal costs one node only.
func (c *contest) try(ctx context.Context) (*attempt.Attempt, ballot.Result) {
	c.attempts++
	c.tries++
	since := time.Now() // before terms, which may have to subscribe on the gate first
	try := attempt.New(c.engine.Set, c.terms(ctx), since, c.req.Origin)
	hooked := c.req.Traces.AttemptStart(ctx, try.Start)
	began := time.Now()
	res := try.Run(hooked)
	if len(c.req.Traces) > 0 {
		c.req.Traces.AttemptEnd(hooked, try.End(time.Since(began), res.Err))
	}
	c.gate.note(try, res, c.queues())
	if res.GateRefused {
		c.pace.wasted = 0
	}
	if res.Err != nil {
		c.gate.barred |= try.Barred()
		c.remember(try, &res)
	}
	return try, res
}

// remember keeps the holder record of a failed attempt, and why it failed, unless only its
// context had ended.
func (c *contest) remember(try *attempt.Attempt, res *ballot.Result) {
	c.earlier = append(c.earlier[max(0, len(c.earlier)-maxEarlier):], try.Holder())
	switch {
	case errors.Is(res.Err, lock.ErrHeld), errors.Is(res.Err, lock.ErrTooLate), errors.Is(res.Err, lock.ErrNoQuorum):
		c.last = res.Err
	case res.Blocker != nil:
		c.last = res.Blocker
	default:
		return
	}
	c.noteMember(res)
	if !c.sweeping {
		met := c.last
		c.line.Met.Store(&met)
	}
}

// lastOr is why the last attempt failed that was decided: of this call, of the one in front, or what the attempt knows
// that ctx has cut short.
func (c *contest) lastOr(try *attempt.Attempt) error {
	if c.last == nil && !c.sweeping {
		c.last = c.line.LastMet()
	}
	if c.last == nil {
		c.last = try.Unfinished()
	}
	return c.last
}
