// Package clock has the clock by which the validity of leases is measured.
package clock

import (
	"math"
	"sync/atomic"
	"time"
)

// checkSuspension is how often the boot-time clock is read at most: that is a system
// call, and a lease is checked with several of them.
const checkSuspension = time.Millisecond

// New counts by the larger of the monotonic clock, which stands still while
// a machine or its VM is suspended (golang/go#24595), and the boot-time clock,
// which does not: a suspended holder must not trust a lease that ran out meanwhile. It
// notices a suspension within a millisecond of running again, which the allowance for
// the clocks' granularity covers.
func New() func() time.Duration {
	start := time.Now()
	c := &clock{monotonic: func() time.Duration { return time.Since(start) }, boot: bootTime}
	c.booted = bootTime()
	return c.read
}

type clock struct {
	monotonic, boot func() time.Duration
	booted          time.Duration // boot at the zero of monotonic
	checked         atomic.Int64  // when boot was read last
	suspended       atomic.Int64  // for how long in all, by then; never less than before
}

func (c *clock) read() time.Duration {
	now := c.monotonic()
	if checked := time.Duration(c.checked.Load()); checked == 0 || now-checked >= checkSuspension {
		booted := c.boot() - c.booted
		now = c.monotonic() // after it: being preempted between the two is no suspension
		c.checked.Store(int64(max(now, 1)))
		for ahead := int64(booted - now); ; {
			old := c.suspended.Load()
			if ahead <= old || c.suspended.CompareAndSwap(old, ahead) {
				break
			}
		}
	}
	return now + time.Duration(c.suspended.Load())
}

// Tick is the time between two instants at which timers of many leases go off. One by one they would cost more.
const Tick = 50 * time.Millisecond

// Never is later than any instant of a clock.
const Never = time.Duration(math.MaxInt64)
