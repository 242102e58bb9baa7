package semaphore

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lockscope/lockscope/lock"
)

// FullError means that no slot was free. It matches lock.ErrHeld, and wraps the errors of the slots.
type FullError struct {
	Name  string
	Slots int
	// Here is how many slots this Semaphore held itself, or was trying for another call.
	Here int
	// Held describes the holders of the other slots. A call that is cut short before it could look at
	// all slots names fewer.
	Held []*lock.HeldError
	// Split are slots for which several callers asked at once, so that nobody got a majority.
	Split []*lock.QuorumError
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

// Is makes errors.Is(err, lock.ErrHeld) true.
func (e *FullError) Is(target error) bool { return target == lock.ErrHeld }

// Unwrap returns the errors of the slots.
func (e *FullError) Unwrap() (all []error) {
	for _, held := range e.Held {
		all = append(all, held)
	}
	return all
}

// add notes why a slot was not acquired. It returns an error if that says more than that the slot is taken.
func (e *FullError) add(err error) error {
	if errors.Is(err, errHere) {
		e.Here++
		return nil
	}
	if _, cut := errors.AsType[*lock.WaitError](err); cut {
		return err
	}
	if held, ok := errors.AsType[*lock.HeldError](err); ok {
		if other := otherSlots(e.Name, e.Slots, held); other != nil {
			return other
		}
		e.Held = append(e.Held, held)
		return nil
	}
	if votes, ok := errors.AsType[*lock.QuorumError](err); ok && votes.Refused > 0 &&
		votes.Granted+votes.Refused >= votes.Quorum {
		e.Split = append(e.Split, votes)
		return nil
	}
	if other := otherSlotsOnNodes(e.Name, e.Slots, err); other != nil {
		return other
	}
	return err
}

// with adds the holder for whose slot the call waited: its looks left that slot out.
func (e *FullError) with(held *lock.HeldError) error {
	known := slices.ContainsFunc(e.Held, func(h *lock.HeldError) bool { return h.Resource == held.Resource })
	if known || e.Here+len(e.Held)+len(e.Split) >= e.Slots {
		return e
	}
	if other := e.add(held); other != nil {
		return other
	}
	return e
}
