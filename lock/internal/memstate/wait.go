package memstate

import (
	"context"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

// Wait waits for d. It fails with [driver.ErrTimeout] if ctx ends first.
func Wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		if ctx.Err() != nil {
			return Timeout(ctx)
		}
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return Timeout(ctx)
	}
}

// Timeout is the error of a call whose ctx has ended before its answer came.
func Timeout(ctx context.Context) error { return fmt.Errorf("%w (%v)", driver.ErrTimeout, ctx.Err()) }
