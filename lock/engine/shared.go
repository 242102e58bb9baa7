package engine

import (
	"errors"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
)

// A read/write lock is a lock whose readers do not exclude one another. Its readers and writers make the attempts, and
// hold the leases, of any lock; only what the nodes do about a mode differs: see driver.Sharer. A writer that waits
// queues at the gate, and keeps later readers out on every node that refuses it.

// Shares implements the method that lock.Shares looks for. It fails unless all nodes know readers and writers.
func (e *Engine) Shares() error {
	for _, n := range e.nodes {
		known, ok := n.Node.(driver.Sharer)
		if !ok {
			return fmt.Errorf("%s: %w", n.Name(), errNoModes)
		}
		if err := known.Shares(); err != nil {
			return fmt.Errorf("%s: %w", n.Name(), err)
		}
	}
	return nil
}

// errNoModes is the error of a node that is no driver.Sharer.
var errNoModes = fmt.Errorf("%w: this driver has no read/write locks: use a lock, or package redlock",
	errors.ErrUnsupported)

// modeOf is the mode that a lock of this kind is asked for in.
func modeOf(k lock.Kind) driver.Mode {
	switch k {
	case lock.KindRead:
		return driver.Read
	case lock.KindWrite:
		return driver.Write
	}
	return driver.Exclusive
}

// mayShare refuses readers and writers that the nodes do not know.
func (e *Engine) mayShare(o *lock.AcquireOptions) error {
	if modeOf(o.Kind) == driver.Exclusive {
		return nil
	}
	return e.Shares()
}

// upgrades refuses a writer whose caller reads the same lock: it would wait for itself.
func (c *caller) upgrades() error {
	if modeOf(c.opts.Kind) != driver.Write {
		return nil
	}
	for _, held := range c.graph.Leases() {
		l, ok := held.Of().(*described)
		if ok && l.attempt.req.Mode == driver.Read && l.resource == c.resource &&
			l.engine.backend.Keyspace == c.engine.backend.Keyspace {
			return fmt.Errorf("%w: %w: %q: release the read lock, then acquire the write lock", lock.ErrInvalidOption,
				lock.ErrUpgrade, c.resource)
		}
	}
	return nil
}

// bar is how long a node that refuses the caller keeps later readers out; 0 if it does not.
func (e *base) bar(o *lock.AcquireOptions) time.Duration {
	if o.NoWait || modeOf(o.Kind) != driver.Write {
		return 0
	}
	return max(o.TTL, 4*e.cfg.PollInterval)
}

// barred is the set of nodes on which the attempt may have set up a bar: it was not granted there.
func (a *attempt) barred() (nodes uint64) {
	if a.req.Bar == 0 {
		return 0
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.ballot.asked &^ a.ballot.granted
}

// looksAgain bounds the pause of a writer that waits: its bars must not run out.
func (c *caller) looksAgain(pause time.Duration) time.Duration {
	if bar := c.engine.bar(&c.opts); bar > 0 {
		return min(pause, bar/3)
	}
	return pause
}
