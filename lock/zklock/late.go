package zklock

import (
	"context"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

// within waits for a session, and then for the client, until ctx ends: the client knows no
// contexts. What it answers later is told to late.
func within[T any](
	ctx context.Context, n *node, await func(context.Context) error, ask func() (T, error), late func(),
) (T, error) {
	type answer struct {
		value T
		err   error
	}
	var none T
	if err := intime(ctx, await); err != nil {
		return none, err
	}
	answers := make(chan answer)
	started := n.run(func() {
		var a answer
		a.value, a.err = ask()
		select {
		case answers <- a:
		case <-ctx.Done():
			if late != nil {
				late()
			}
		}
	})
	if !started {
		return none, fmt.Errorf("%w: %w", driver.ErrNotSent, driver.ErrClosed)
	}
	select {
	case a := <-answers:
		return a.value, a.err
	case <-ctx.Done():
		return none, driver.ErrTimeout
	}
}

// intime leaves some of the time, so that what was wrong is told before the call counts as
// unanswered.
func intime(ctx context.Context, await func(context.Context) error) error {
	if deadline, ok := ctx.Deadline(); ok {
		left := time.Until(deadline)
		soon, cancel := context.WithTimeout(ctx, left-left/8)
		defer cancel()
		ctx = soon
	}
	return await(ctx)
}

// run does something that Close waits for. It reports false after Close.
func (n *node) run(do func()) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return false
	}
	n.works.Go(do)
	return true
}
