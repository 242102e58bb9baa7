package attempt

import "sync/atomic"

// countdown closes over once done has been called left times.
type countdown struct {
	left atomic.Int32
	over chan struct{}
}

func (c *countdown) done() {
	if c.left.Add(-1) == 0 {
		close(c.over)
	}
}
