package contest

import (
	"errors"
	"fmt"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/internal/lease"
	"github.com/lockscope/lockscope/lock/internal/carried"
)

// A read/write lock is a lock whose readers do not exclude one another. Its readers and writers make the attempts, and
// hold the leases, of any lock; only what the nodes do about a mode differs: see driver.Capabilities. A writer that waits
// queues at the gate, and keeps later readers out on every node that refuses it.

// upgrades refuses a writer whose caller reads the same lock: it would wait for itself.
func (c *contest) upgrades() error {
	if c.req.Opts.Mode != lock.ModeWrite {
		return nil
	}
	for _, held := range c.graph.Leases() {
		if lease.Reads(held, c.group.resource, c.engine.Backend.Keyspace) {
			return fmt.Errorf("%w: %w: %q: release the read lock, then acquire the write lock", lock.ErrInvalidOption,
				carried.ErrUpgrade, c.group.resource)
		}
	}
	return nil
}

// waitsForWriters makes the wait of a reader count in the graph of waits only while a writer keeps it out: one that
// holds the lock, or that waits for the readers. Other readers never do, and a reader may wait for the nodes.
func (c *contest) waitsForWriters() {
	if c.req.Opts.Mode != lock.ModeRead || len(c.graph.Leases()) == 0 {
		return
	}
	c.graph.WaitsWhile(func() bool {
		held, ok := errors.AsType[*lock.HeldError](c.line.LastMet())
		return ok && held.Holder.Kind != lock.KindRead
	})
}
