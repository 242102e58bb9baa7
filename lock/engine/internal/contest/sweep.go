package contest

import (
	"context"
	"errors"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/internal/attempt"
)

// errHere means that this process has the member, or asks for it in another call.
var errHere = errors.New("lock: held in this process")

// sweep asks for each member once, and does not queue. Any error that says more than that a member is taken ends it early:
// the others have the same nodes.
func (c *contest) sweep(ctx context.Context) (attempt.Beginning, error) {
	c.engine.WarmUp(ctx)
	c.sweeping, c.named = true, false
	defer func() { c.sweeping = false }()
	for i := range c.group.size {
		c.member = (c.group.home + i) % c.group.size
		from, err := c.askMember(ctx)
		if err == nil {
			return from, nil
		}
		if !c.group.any || !c.taken(err) {
			return attempt.Beginning{}, err
		}
	}
	c.counted++
	return attempt.Beginning{}, c.full()
}

// askMember asks for a member that no other call of this process asks for in a sweep. A lock has a queue for that.
func (c *contest) askMember(ctx context.Context) (attempt.Beginning, error) {
	if !c.group.any {
		return c.ask(ctx)
	}
	q := c.queueOf(c.member)
	if q.Leases.Load() > 0 || !q.Asked.CompareAndSwap(false, true) {
		c.found[c.member] = errHere
		return attempt.Beginning{}, errHere
	}
	defer q.Asked.Store(false)
	return c.ask(ctx)
}

// ask makes attempts until one decides.
func (c *contest) ask(ctx context.Context) (attempt.Beginning, error) {
	c.tries, c.undecided = 0, undecided{}
	for {
		try, res := c.try(ctx)
		if res.Err == nil {
			return try.Won(), nil
		}
		if ended := c.endedBy(ctx); ended != nil {
			return attempt.Beginning{}, c.cut(ended, c.lastOr(try))
		}
		if !c.req.Opts.NoWait || !c.undecided.again(res) || res.Hopeless || !c.group.any && c.attempts == c.req.Opts.MaxAttempts {
			try.Settle(ctx)
			return attempt.Beginning{}, c.undecided.most(res.Err)
		}
		if err := c.pauseUndecided(ctx); err != nil {
			return attempt.Beginning{}, c.cut(err, c.last)
		}
	}
}

// pauseUndecided is no wait of its own kind: nobody is ahead, and nobody will call.
func (c *contest) pauseUndecided(ctx context.Context) error {
	timer := time.NewTimer(undecidedPause + c.engine.Config.Jitter(undecidedPause))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	case <-c.engine.Done:
	}
	return c.endedBy(ctx)
}

// mayQueue says whether a call whose sweep failed should wait.
func (c *contest) mayQueue(err error) bool {
	if c.req.Opts.NoWait || c.spent() {
		return false
	}
	reason := lock.ReasonOf(err)
	return reason == lock.ReasonHeld || reason == lock.ReasonNoQuorum
}
