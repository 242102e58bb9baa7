package redsynclock

import (
	"context"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

// within asks for a token's sake: what takes effect after it was given up is undone.
func (n *node) within(ctx context.Context, key string, v *value, ask func(context.Context) error) error {
	return n.bounded(ctx, ask, func() {
		if !n.values.isBuried(v) {
			return
		}
		limited, cancel := context.WithTimeout(context.Background(), n.memory)
		defer cancel()
		m := n.mutex(key, n.memory, valueOf(v))
		_, _ = m.UnlockContext(limited)
	})
}

// bounded waits for redsync until ctx ends: whether a client heeds its context is up to
// how it is configured. What comes later is told to late.
func (n *node) bounded(ctx context.Context, ask func(context.Context) error, late func()) error {
	limited, cancel := n.limit(ctx)
	answer := make(chan error)
	n.calls.Go(func() {
		defer cancel()
		err := ask(limited)
		select {
		case answer <- err:
		case <-ctx.Done():
			if late != nil {
				late()
			}
		}
	})
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		return driver.ErrTimeout
	}
}

// limit leaves redsync the time to say what a quorum of its pools has said, while others
// hang: where it asks several, it waits for each of them.
func (n *node) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	end, ok := ctx.Deadline()
	if n.pool != nil || !ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Until(end)/2)
}
