package live

import (
	"context"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/decorate"
)

// lease is a lock.Lease that is on a Board. Before it is held it stands for the
// call that waits for it.
type lease struct {
	call
	decorate.Lease
	returned bool // Acquire has
	heldAt   time.Time
	lost     bool // it ended without a release; guarded by the shard's mutex

	in            *list // guarded by the shard's mutex, like the next two
	before, after *lease
}

var (
	_ lock.Lease     = (*lease)(nil)
	_ decorate.Ender = (*lease)(nil)
)

// Extend implements lock.Lease. A hook counts the round if the Locker has hooks,
// like the rounds of automatic renewal.
func (m *lease) Extend(ctx context.Context) error {
	err := m.Lease.Extend(ctx)
	if err == nil && !m.Hooked() {
		m.extended()
	}
	return err
}

// Release implements lock.Lease. The lease leaves the Board before it is given
// back: from then on somebody else may hold the lock.
func (m *lease) Release(ctx context.Context) error {
	if m.StartRelease() {
		m.shard.drop(m)
	}
	return m.Next().Release(ctx)
}

// Ended implements decorate.Ender.
func (m *lease) Ended(context.Context, error) { m.shard.lose(m) }

func (c *call) extended() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.extends++
}
