package lock

import (
	"context"
	"sync/atomic"
	"time"
)

// within returns a context for commands on nodes: with the values of ctx, the
// node timeout as deadline, and without the end of ctx, for a command must not be
// cut short where its outcome matters.
func (e *Engine) within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), e.cfg.NodeTimeout)
}

// countdown calls over when done was called as often as it was told to expect.
type countdown struct {
	left atomic.Int32
	over func()
}

func (c *countdown) expect(calls int) { c.left.Add(int32(calls)) }

func (c *countdown) done() {
	if c.left.Add(-1) == 0 {
		c.over()
	}
}

// round is the context of one round of commands, sent to several nodes at once.
// It is given up when the last of them is done.
type round struct {
	countdown
	ctx context.Context
}

func (e *Engine) newRound(ctx context.Context, calls int) *round {
	n := new(round)
	n.ctx, n.over = e.within(ctx)
	n.expect(calls)
	return n
}

// sleep pauses unless the engine is closed; it reports whether it is not.
func (e *Engine) sleep(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-e.done:
		return false
	}
}

// tombstoneTTL is how long after giving up a late acquire is still kept out.
func (e *Engine) tombstoneTTL() time.Duration { return max(e.cfg.MaxTTL, time.Minute) }
