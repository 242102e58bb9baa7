package engine

import (
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/records"
)

// slotsKept is how long a node remembers the number of slots of a semaphore that nobody uses: longer than a night
// without work, and than any lock of it can live.
func slotsKept(maxTTL time.Duration) time.Duration { return max(24*time.Hour, 2*maxTTL) }

// semaphore is what the requests of the call say of its semaphore; nil if the resource is not one of its slots.
func (c *caller) semaphore() *driver.Semaphore {
	if c.any != nil {
		of := c.any.of
		return &of
	}
	if c.Opts.Kind != lock.KindSemaphore || c.Opts.Slots == 0 {
		return nil
	}
	name, slot, ok := records.ParseSlot(c.Resource)
	if !ok || slot >= c.Opts.Slots {
		return nil
	}
	return &driver.Semaphore{
		Key: c.engine.Config.Prefix + name, Slot: slot, Slots: c.Opts.Slots, Keep: slotsKept(c.engine.Config.MaxTTL),
		OneQueue: c.Opts.OneQueue && c.engine.slotQueue,
	}
}
