package clock

import (
	"context"
	"math/rand/v2"
	"time"
)

// Pause waits for d, and reports whether ctx lasted that long.
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

// Jittered returns d, give or take 10 %.
func Jittered(d time.Duration) time.Duration { return d - d/10 + rand.N(d/5+1) }

// Ended reports whether ctx is over. A connection may detect the deadline first.
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
