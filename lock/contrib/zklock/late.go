package zklock

import (
	"context"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

// within waits for a session, then runs a client call, until ctx ends: the client has no contexts. If the
// answer comes later, it goes to late.
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

// intime ends slightly before the deadline, so that the cause is reported before the call counts as
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

// run starts a function that Close waits for. It returns false after Close.
func (n *node) run(do func()) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return false
	}
	n.works.Go(do)
	return true
}
