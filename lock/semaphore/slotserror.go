package semaphore

import (
	"errors"
	"fmt"

	"github.com/lockscope/lockscope/lock"
)

// SlotsError means that the semaphore has another number of slots: on a majority of the nodes, or for a holder of one of
// its slots. It matches lock.ErrInvalidOption. Use the same number in all processes, or change it with Resize.
type SlotsError struct {
	Name  string
	Slots int             // of this Semaphore
	Other int             // on the nodes, or of the holder
	Held  *lock.HeldError // the slot and its holder; nil if the nodes refused
	// Err is the answer of the nodes. It is nil if a holder was met: then the nodes do not compare the number.
	Err error
}

func (e *SlotsError) Error() string {
	if e.Err != nil {
		votes := fmt.Sprintf(" (%v)", e.Err)
		if q, ok := errors.AsType[*lock.QuorumError](e.Err); ok {
			votes = q.Votes.Text(lock.OpAcquire)
		}
		return fmt.Sprintf("semaphore %q: this process uses %d slots, but the nodes know %d%s. "+
			"Use the same number of slots in all processes, or change it on the nodes with Resize.",
			e.Name, e.Slots, e.Other, votes)
	}
	return fmt.Sprintf("semaphore %q: this process uses %d slots, but a holder uses %d (%v). "+
		"Use the same number of slots in all processes, or another name.", e.Name, e.Slots, e.Other, e.Held)
}

// Is makes errors.Is(err, lock.ErrInvalidOption) true.
func (e *SlotsError) Is(target error) bool { return target == lock.ErrInvalidOption }

// Unwrap returns Err.
func (e *SlotsError) Unwrap() error { return e.Err }

// otherSlots returns an error if the holder of a slot uses another number of slots than k, and the nodes did not
// compare the numbers.
func otherSlots(name string, k int, held *lock.HeldError) error {
	h := held.Holder
	if held.SlotsKnown || h.Kind != lock.KindSemaphore || h.Slots == 0 || h.Slots == k {
		return nil
	}
	return &SlotsError{Name: name, Slots: k, Other: h.Slots, Held: held}
}

// slotsKnown is the error of a node that knows another number of slots: a *driver.SlotsError.
type slotsKnown interface {
	error
	KnownSlots() int
}

// otherSlotsOnNodes returns an error if err says that a majority of the nodes knows another number of slots than k.
func otherSlotsOnNodes(name string, k int, err error) error {
	node, ok := errors.AsType[slotsKnown](err)
	if !ok || !errors.Is(err, lock.ErrInvalidOption) {
		return nil
	}
	return &SlotsError{Name: name, Slots: k, Other: node.KnownSlots(), Err: err}
}
