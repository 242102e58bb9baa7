package driver

import (
	"fmt"
	"time"
)

// QuarantineError means that a node may not vote yet, since it may have forgotten locks that
// are still valid. It matches [ErrQuarantined].
type QuarantineError struct {
	Left time.Duration // until the node votes by itself
	// New is true if the node shows no sign of ever having granted a lock. It is new, or it
	// restarted without its data: only a person knows which.
	New bool
	// Vouch is the command that vouches for all nodes of the set if they are new, on one
	// line and without passwords; "" if there is none.
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
		return fmt.Sprintf("%v: it evicted %s keys: wait %v, until every lock among them has expired", ErrQuarantined,
			e.Evicted, left)
	}
	return fmt.Sprintf("%v: wait %v, until every lock that it may have lost has expired", ErrQuarantined, left)
}

// Unwrap returns ErrQuarantined.
func (e *QuarantineError) Unwrap() error { return ErrQuarantined }

// Quarantine returns Left, New and Vouch, for package lock.
func (e *QuarantineError) Quarantine() (left time.Duration, isNew bool, vouch string) {
	return e.Left, e.New, e.Vouch
}
