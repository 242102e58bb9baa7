// Package clock is what the scanner does with time: it waits, tells whether a context is
// over, and writes durations for people.
package clock

import (
	"context"
	"math/rand/v2"
	"time"
)

// Pause waits, and says whether ctx lasted.
func Pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Jittered is d, give or take 10 %.
func Jittered(d time.Duration) time.Duration { return d - d/10 + rand.N(d/5+1) }

// Ended says whether ctx is over. A connection may notice the deadline first.
func Ended(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && !time.Now().Before(deadline)
}

// Round keeps durations readable.
func Round(d time.Duration) time.Duration {
	if d < 10*time.Second {
		return d.Round(time.Millisecond)
	}
	return d.Round(time.Second)
}
