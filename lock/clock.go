package lock

import "time"

// Clock returns the time that has passed since some fixed point. It must never
// go back, and it must count time during which the machine was suspended.
type Clock func() time.Duration

// newClock counts by the larger of the monotonic clock, which stands still while
// a machine or its VM is suspended (golang/go#24595), and the boot-time clock,
// which does not: a suspended holder must not trust a lease that ran out meanwhile.
func newClock() Clock {
	start, boot := time.Now(), bootTime()
	return func() time.Duration {
		return max(time.Since(start), bootTime()-boot)
	}
}
