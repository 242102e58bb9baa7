package ballot

import (
	"errors"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/records"
)

// OtherSlots is how many nodes have refused because they know another number of slots.
func (b *Ballot) OtherSlots() (n int) {
	for _, f := range b.Failures {
		if _, ok := errors.AsType[*driver.SlotsError](f.Err); ok {
			n++
		}
	}
	return n
}

// hasOtherSlots reports that these nodes alone leave no quorum.
func (b *Ballot) hasOtherSlots() bool {
	return Tally{Nodes: b.Tally.Nodes, Failed: b.OtherSlots()}.Lost()
}

// otherSlots is the error of an attempt that a majority of the nodes refused because of the number of slots.
func (b *Ballot) otherSlots() error {
	votes := b.quorumError()
	e := &lock.SlotsError{Name: b.Resource, Err: votes}
	if name, _, ok := records.ParseSlot(b.Resource); ok {
		e.Name = name
	}
	if node, ok := errors.AsType[*driver.SlotsError](votes); ok {
		e.Slots, e.Other = node.Slots, node.Known
	}
	return e
}
