package redsynclock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-redsync/redsync/v4"

	"github.com/lockscope/lockscope/lock/driver"
)

// probeTimeout is how long a client may take to report why it gets no answer. It dials and sends
// repeatedly, which takes longer than any call of a lock.
const probeTimeout = 5 * time.Second

// probe reads an unused key, to learn why calls get no answer. One probe runs at a time. The channel is
// closed when it ends.
func (n *node) probe() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.probed != nil {
		return n.probed
	}
	over := make(chan struct{})
	if n.closed {
		close(over)
		return over
	}
	n.probed = over
	n.calls.Go(func() {
		ctx, cancel := context.WithTimeout(n.life, probeTimeout)
		defer cancel()
		_, err := n.mutex("lockscope:warm", n.memory, redsync.WithValue("-")).ValidContext(ctx)
		n.note(err)
		n.mu.Lock()
		defer n.mu.Unlock()
		n.probed = nil
		close(over)
	})
	return over
}

// note remembers why calls fail, except timeouts.
func (n *node) note(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case err == nil, isTaken(err):
		n.cause = nil
	case !isDeadline(err):
		n.cause = classify(err)
	}
}

func isDeadline(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) ||
		driver.ClassOf(err) == driver.Timeout
}

// noAnswer is the error of a server that did not answer.
func (n *node) noAnswer() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	const remedy = `check the address of the pool's client, and the server with "lockscope doctor"`
	if n.cause == nil {
		return driver.WithRemedy(driver.ErrTimeout, remedy)
	}
	return driver.WithRemedy(fmt.Errorf("%w: the client reports: %w", driver.ErrTimeout, n.cause), remedy)
}
