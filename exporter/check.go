package exporter

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// LockCheck makes a check for WithReadyCheck that acquires a lock called name, without waiting, and releases it.
// Unlike a PING, it fails if nodes answer but may not vote. The name should be unique to this process, such as
// "ready:"+instance. A lock that an earlier check left held proves as much as a free one. Pass the Locker inside the
// decorators, so that checks do not count as traffic.
func LockCheck(l lock.Locker, name string) func(context.Context) error {
	return func(ctx context.Context) error {
		nothing := func(context.Context, lock.Lease) error { return nil }
		err := lock.Do(ctx, l, name, nothing, lock.NoWait(), lock.NoRenew())
		if errors.Is(err, lock.ErrHeld) {
			return nil
		}
		return err
	}
}

// check is one condition of readiness.
type check struct {
	name string
	fn   func(context.Context) error

	mu      sync.Mutex
	current *checkRun // under way; nil if none is
}

type checkRun struct {
	done chan struct{}
	err  error // valid once done is closed
}

// run calls fn, or joins the running call, and waits at most for timeout. A check that ignores its context must
// neither hang the answer nor pile up.
func (c *check) run(timeout time.Duration) error {
	r := c.join(timeout)
	late := time.NewTimer(timeout)
	defer late.Stop()
	select {
	case <-r.done:
		return r.err
	case <-late.C:
		return fmt.Errorf("no answer within %v", timeout)
	}
}

func (c *check) join(timeout time.Duration) *checkRun {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current == nil {
		c.current = &checkRun{done: make(chan struct{})}
		go c.call(c.current, timeout)
	}
	return c.current
}

func (c *check) call(r *checkRun, timeout time.Duration) {
	// Several requests may wait for this call: none of their contexts may end it.
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			r.err = fmt.Errorf("the check panicked")
		}
		c.mu.Lock()
		c.current = nil
		c.mu.Unlock()
		close(r.done)
	}()
	r.err = c.fn(ctx)
}
