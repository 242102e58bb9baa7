package zklock

import (
	"context"
	"fmt"

	"github.com/lockscope/lockscope/lock/driver"
)

// within waits for the client until ctx ends: the client knows no contexts. What it answers
// later is told to late.
func within[T any](ctx context.Context, n *node, ask func() (T, error), late func()) (T, error) {
	type answer struct {
		value T
		err   error
	}
	var none T
	answers := make(chan answer)
	started := n.run(func() {
		var a answer
		if a.err = n.link.await(ctx); a.err == nil {
			a.value, a.err = ask()
		}
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
