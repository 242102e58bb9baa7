package engine

import "sync/atomic"

// countdown closes over when done was called as often as it was set to.
type countdown struct {
	left atomic.Int32
	over chan struct{}
}

func (c *countdown) done() {
	if c.left.Add(-1) == 0 {
		close(c.over)
	}
}
