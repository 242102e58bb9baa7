package lock

import (
	"errors"
	"fmt"
	"strings"
)

// FullError means that no slot of a semaphore was free. It matches ErrHeld, and wraps the errors of the slots.
type FullError struct {
	Name  string
	Slots int
	// Here is how many slots the Locker held itself, or was asking for in another call.
	Here int
	// Held describes the holders of the other slots. A call that is cut short before it could look at
	// all slots names fewer.
	Held []*HeldError
	// Split are slots for which several callers asked at once, so that nobody got a majority.
	Split []*QuorumError
}

func (e *FullError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "semaphore %q: no permit is free: %d slots", e.Name, e.Slots)
	if e.Here > 0 {
		fmt.Fprintf(&b, "; %d in use by this process", e.Here)
	}
	for _, held := range e.Held {
		b.WriteString("; " + held.Error())
	}
	if n := len(e.Split); n > 0 {
		fmt.Fprintf(&b, "; %d asked for by several callers at once", n)
	}
	return b.String()
}

// Is makes errors.Is(err, ErrHeld) true.
func (e *FullError) Is(target error) bool { return target == ErrHeld }

// Unwrap returns the errors of the slots.
func (e *FullError) Unwrap() (all []error) {
	for _, held := range e.Held {
		all = append(all, held)
	}
	return all
}

// SlotsError means that a call and a majority of the nodes, or a call and the holder of a slot, disagree about the number
// of slots of a semaphore. It matches ErrInvalidOption. Use the same number in all processes, or change it with
// engine.Engine.Resize.
type SlotsError struct {
	Name  string
	Slots int        // of this call
	Other int        // on the nodes, or of the holder
	Held  *HeldError // the slot and its holder; nil if the nodes refused
	// Err is the answer of the nodes. It is nil if a holder was met: then the nodes do not compare the number.
	Err error
}

func (e *SlotsError) Error() string {
	if e.Err != nil {
		votes := fmt.Sprintf(" (%v)", e.Err)
		if q, ok := errors.AsType[*QuorumError](e.Err); ok {
			votes = q.Votes.Text(OpAcquire)
		}
		return fmt.Sprintf("semaphore %q: this process uses %d slots, but the nodes know %d%s. "+
			"Use the same number of slots in all processes, or change it on the nodes with Resize.",
			e.Name, e.Slots, e.Other, votes)
	}
	return fmt.Sprintf("semaphore %q: this process uses %d slots, but a holder uses %d (%v). "+
		"Use the same number of slots in all processes, or another name.", e.Name, e.Slots, e.Other, e.Held)
}

// Is makes errors.Is(err, ErrInvalidOption) true.
func (e *SlotsError) Is(target error) bool { return target == ErrInvalidOption }

// Unwrap returns Err.
func (e *SlotsError) Unwrap() error { return e.Err }
