package ballot

import (
	"errors"
	"fmt"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/quorum"
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
	return quorum.Tally{Nodes: b.Tally.Nodes, Failed: b.OtherSlots()}.Lost()
}

// otherSlotsError is the error of an attempt that a majority of the nodes refused because of the number of slots. It
// wraps lock.ErrInvalidOption and the votes.
type otherSlotsError struct{ votes *lock.QuorumError }

func (e *otherSlotsError) Error() string {
	return fmt.Sprintf("%v: %s: the nodes know another number of slots%s", lock.ErrInvalidOption, e.votes.Resource,
		e.votes.Votes.Text(lock.OpAcquire))
}

func (e *otherSlotsError) Unwrap() []error { return []error{lock.ErrInvalidOption, e.votes} }
