package redsynclock

import (
	"context"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

// ask runs a redsync call and answers by its deadline. Some clients are configured to ignore
// their context, so the call may end later: then it calls late, which may be nil.
func ask[T any](n *node, call driver.Call, to driver.Answer[T], do func(context.Context) (T, error), late func()) {
	var none T
	if !n.begin() {
		to.Answer(none, fmt.Errorf("%w: %w", driver.ErrNotSent, driver.ErrClosed))
		return
	}
	// Slightly before the deadline, so that the answer can include the known cause.
	deadline := call.Deadline.Add(-time.Until(call.Deadline) / 16)
	ctx, cancel := context.WithDeadline(context.WithoutCancel(call.Context), deadline)
	inTime := context.AfterFunc(ctx, func() {
		to.Answer(none, n.noAnswer())
		n.probe()
	})
	go func() {
		defer n.calls.Done()
		defer cancel()
		limited, done := n.limit(ctx)
		defer done()
		reply, err := do(limited)
		n.note(err)
		switch {
		case inTime():
			to.Answer(reply, err)
		case late != nil:
			late()
		}
	}()
}

// begin counts a call that Close waits for. It returns false after Close.
func (n *node) begin() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.closed {
		n.calls.Add(1)
	}
	return !n.closed
}

// limit halves the time of a call on several pools. redsync waits for each pool, so there must be time left
// to report a quorum's answer while others hang.
func (n *node) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if n.pool != nil {
		return ctx, func() {}
	}
	return half(ctx)
}

// half ends when half of the time has passed.
func half(ctx context.Context) (context.Context, context.CancelFunc) {
	end, _ := ctx.Deadline()
	return context.WithTimeout(ctx, time.Until(end)/2)
}

// undo takes back a lock that took effect after its token was given up.
func (n *node) undo(key string, v *value) {
	if !n.values.isBuried(v) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), n.memory)
	defer cancel()
	_, _ = n.mutex(key, n.memory, valueOf(v)).UnlockContext(ctx)
}
