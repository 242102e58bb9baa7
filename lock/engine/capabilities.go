package engine

import "github.com/lockscope/lockscope/lock/driver"

// Capabilities returns what all nodes can do beside locks. It sends nothing. A call that needs
// another capability fails with errors.ErrUnsupported.
func (e *Engine) Capabilities() driver.Capabilities {
	all := e.Nodes[0].Capabilities()
	for _, n := range e.Nodes[1:] {
		its := n.Capabilities()
		all.Peek = all.Peek && its.Peek
		all.Revoke = all.Revoke && its.Revoke
		all.Keep = all.Keep && its.Keep
		all.Readers = all.Readers && its.Readers
		all.Slots = all.Slots && its.Slots
		all.SlotQueue = all.SlotQueue && its.SlotQueue
	}
	return all
}
