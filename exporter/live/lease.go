package live

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// lease is a lock.Lease that is on a Board. Before it is held it stands for the
// call that waits for it.
type lease struct {
	call
	returned bool // Acquire has
	next     lock.Lease
	heldAt   time.Time
	user     leaseContext
	watch    *watch
	unwatch  func() bool
	released atomic.Bool

	in            *list // guarded by the shard's mutex, like the next two
	before, after *lease
}

var _ lock.Lease = (*lease)(nil)

func (m *lease) Resource() string         { return m.next.Resource() }
func (m *lease) Context() context.Context { return &m.user }
func (m *lease) Fence() uint64            { return m.next.Fence() }
func (m *lease) Remaining() time.Duration { return m.next.Remaining() }

// Extend implements lock.Lease. A hook counts the round if the Locker has hooks,
// like the rounds of automatic renewal.
func (m *lease) Extend(ctx context.Context) error {
	err := m.next.Extend(&extendContext{Context: ctx, call: &m.call})
	if err == nil && !m.isHooked() {
		m.extended()
	}
	return err
}

// Release implements lock.Lease. The lease leaves the Board before it is given
// back: from then on somebody else may hold the lock.
func (m *lease) Release(ctx context.Context) error {
	if m.released.CompareAndSwap(false, true) {
		m.stopWatch()
		m.shard.drop(m)
	}
	return m.next.Release(ctx)
}

func (c *call) extended() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.extends++
}

// extendContext is the context of an Extend, in which hooks find the lease's call.
type extendContext struct {
	context.Context
	call *call
}

// Value implements context.Context.
func (c *extendContext) Value(key any) any {
	if key == (callKey{c.call.owner}) {
		return c.call
	}
	return c.Context.Value(key)
}

// watch waits for a lease's context to end. It is used again once it was stopped
// before it ran: making its func value is an allocation.
type watch struct {
	lease *lease
	run   func()
}

func newWatch() *watch {
	w := new(watch)
	w.run = func() { w.lease.shard.drop(w.lease) }
	return w
}

func (m *lease) startWatch() {
	defer contain()
	w := m.owner.board.watches.Get().(*watch)
	w.lease, m.watch = m, w
	m.unwatch = context.AfterFunc(m.next.Context(), w.run)
}

func (m *lease) stopWatch() {
	if m.unwatch != nil && m.unwatch() { // it has not run and never will
		m.watch.lease = nil
		m.owner.board.watches.Put(m.watch)
	}
	m.watch = nil
}
