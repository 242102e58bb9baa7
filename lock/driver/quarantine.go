package driver

import (
	"fmt"
	"time"
)

// QuarantineError says that a node does not vote, for it may have forgotten locks that are
// still valid. It matches [ErrQuarantined].
type QuarantineError struct {
	Left time.Duration // until the node votes by itself
	// New says that nothing is known of a lock that the node ever granted: it is new, or
	// restarted without its data, which only a person can tell apart.
	New bool
	// Vouch is the command with which a person vouches for all nodes of the set, if they
	// are new: without passwords, on one line. "" if there is none.
	Vouch string
	// Evicted is how many keys the node has evicted since it started; "" if none.
	Evicted string
}

func (e *QuarantineError) Error() string {
	left := e.Left.Round(time.Millisecond)
	if e.New {
		return fmt.Sprintf("node may not vote yet: it is new or lost its data, and votes by itself in %v", left)
	}
	if e.Evicted != "" {
		return fmt.Sprintf("%v: for %v, until no lock among the %s keys that it evicted can be valid", ErrQuarantined,
			left, e.Evicted)
	}
	return fmt.Sprintf("%v: for %v, until no lock it may have lost can be valid", ErrQuarantined, left)
}

// Unwrap returns ErrQuarantined.
func (e *QuarantineError) Unwrap() error { return ErrQuarantined }

// Quarantine is what the error of a vote says of it: how long it lasts, whether the node may
// be a new one, and the command with which a person vouches for it then.
func (e *QuarantineError) Quarantine() (left time.Duration, isNew bool, vouch string) {
	return e.Left, e.New, e.Vouch
}
