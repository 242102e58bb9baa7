package lock

import (
	"context"
	"sync/atomic"
)

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
