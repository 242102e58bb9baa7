package inspect

import (
	"errors"
	"fmt"
)

// Action is what a repair does to a leak.
type Action string

// The actions.
const (
	Delete    Action = "delete"
	Terminate Action = "terminate" // end a session
)

// Outcome says what became of a leak.
type Outcome string

// The outcomes of a repair.
const (
	Done    Outcome = "done"
	WouldDo Outcome = "would_do" // dry run: the action would have been done
	// Changed is a lock that is not as it was found: another value, another kind of TTL, or a TTL shorter than the repair
	// would set. It was not touched.
	Changed Outcome = "changed"
	Gone    Outcome = "gone" // the lock, or the reader of a read/write lock, no longer exists
)

// ErrUnsafe is matched by the error of a repair that only a person can judge. Nothing was done.
var ErrUnsafe = errors.New("cannot be repaired safely")

// Unsafe returns an error that matches [ErrUnsafe]. Its text is the reason alone.
func Unsafe(format string, args ...any) error { return unsafe(fmt.Sprintf(format, args...)) }

type unsafe string

func (e unsafe) Error() string { return string(e) }

func (unsafe) Is(target error) bool { return target == ErrUnsafe }
