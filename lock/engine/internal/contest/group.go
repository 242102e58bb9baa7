package contest

import (
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/records"
)

// group is what a call contends for: keys with one queue. The call takes any one of them. A lock is a group of one, and so
// is a slot that is asked for alone. The members of a semaphore are its slots.
//
// Nodes with the capability SlotQueue keep the common queue as well, at the gate of the semaphore. Elsewhere the call queues
// for its home, and tries the others from time to time.
type group struct {
	resource string // that was asked for
	key      string // of the queue in this process: that of the lock, or the semaphore's
	size     int
	any      bool              // of the slots of a semaphore
	of       *driver.Semaphore // nil for a lock
	home     int               // the member to begin with
}

// groupOf is what a call with these options contends for.
func (e *Core) groupOf(resource string, o *lock.AcquireOptions) (group, error) {
	g := group{resource: resource, key: e.Config.Prefix + resource, size: 1}
	if o.Slots == 0 {
		return g, nil
	}
	of := &driver.Semaphore{Key: g.key, Slots: o.Slots, Keep: e.Config.SlotsKept()}
	g.of = of
	if name, slot, ok := records.ParseSlot(resource); ok && slot < o.Slots {
		of.Key, of.Slot = e.Config.Prefix+name, slot
		return g, records.ValidateSlots(name, o.Slots)
	}
	if err := records.ValidateSlots(resource, o.Slots); err != nil {
		return g, err
	}
	g.size, g.any, g.key = o.Slots, true, of.QueueKey()
	of.OneQueue = e.slotQueue
	g.home = e.Queues.Remember(of, e.Config.Jitter)
	return g, nil
}

// common reports that the nodes have one queue for all members.
func (g *group) common() bool { return !g.any || g.of.OneQueue }

// resourceOf is what the lease of a member is of.
func (g *group) resourceOf(member int) string {
	if g.any {
		return records.SlotName(g.resource, member)
	}
	return g.resource
}

// keyOf is the lock key of a member.
func (g *group) keyOf(member int) string {
	if g.any {
		return g.of.SlotKey(member)
	}
	return g.key
}

// queueKey is the key of the queue on the nodes in which a call for a member waits: it decides which node is the gate.
func (g *group) queueKey(member int) string {
	if g.common() {
		return g.key
	}
	return g.keyOf(member)
}

// semaphore is what requests for a member say of its semaphore; nil for a lock. waits says that the call takes what the
// gate offers.
func (g *group) semaphore(member int, waits bool) *driver.Semaphore {
	if g.of == nil {
		return nil
	}
	of := *g.of
	if g.any {
		of.Slot, of.Any = member, waits && of.OneQueue
	}
	return &of
}
