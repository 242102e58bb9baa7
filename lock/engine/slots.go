package engine

import (
	"errors"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/quorum"
	"github.com/lockscope/lockscope/lock/engine/records"
)

// slotsKept is how long a node remembers the number of slots of a semaphore that nobody uses: longer than a night
// without work, and than any lock of it can live.
func slotsKept(maxTTL time.Duration) time.Duration { return max(24*time.Hour, 2*maxTTL) }

// semaphore is what the requests of the call say of its semaphore; nil if the resource is not one of its slots.
func (c *caller) semaphore() *driver.Semaphore {
	if c.opts.Kind != lock.KindSemaphore || c.opts.Slots == 0 {
		return nil
	}
	name, slot, ok := records.ParseSlot(c.resource)
	if !ok || slot >= c.opts.Slots {
		return nil
	}
	return &driver.Semaphore{
		Key: c.engine.cfg.Prefix + name, Slot: slot, Slots: c.opts.Slots, Keep: slotsKept(c.engine.cfg.MaxTTL),
	}
}

// otherSlots reports that the node refused because it knows another number of slots.
func (a *attempt) otherSlots(reply driver.AcquireReply) bool {
	return a.semaphore != nil && reply.Slots != 0 && reply.Slots != a.semaphore.Slots
}

// otherSlots is how many nodes have refused because they know another number of slots.
func (b *ballot) otherSlots() (n int) {
	for _, f := range b.failures {
		if _, ok := errors.AsType[*driver.SlotsError](f.Err); ok {
			n++
		}
	}
	return n
}

// hasOtherSlots reports that these nodes alone leave no quorum.
func (b *ballot) hasOtherSlots() bool {
	return quorum.Tally{Nodes: b.tally.Nodes, Failed: b.otherSlots()}.Lost()
}

// otherSlotsError is the error of an attempt that a majority of the nodes refused because of the number of slots. It
// wraps lock.ErrInvalidOption and the votes.
type otherSlotsError struct{ votes *lock.QuorumError }

func (e *otherSlotsError) Error() string {
	return fmt.Sprintf("%v: %s: the nodes know another number of slots%s", lock.ErrInvalidOption, e.votes.Resource,
		e.votes.Votes.Text(lock.OpAcquire))
}

func (e *otherSlotsError) Unwrap() []error { return []error{lock.ErrInvalidOption, e.votes} }

// slotGone explains a renewal that failed because the semaphore has fewer slots now; "" for other renewals.
func (r *renewal) slotGone() string {
	if r.noSlot == 0 {
		return ""
	}
	return fmt.Sprintf(": %d nodes have fewer slots for its semaphore now: acquire with the present number", r.noSlot)
}
