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

// Outcome says what became of a leak. The words are those of package scanner/repair.
type Outcome string

// The outcomes of a repair.
const (
	Done    Outcome = "done"
	WouldDo Outcome = "would_do"
	Changed Outcome = "changed" // it is not as it was found, and was not touched
	Gone    Outcome = "gone"
)

// ErrUnsafe is matched by the error of a repair that only a person can judge. Nothing was done.
var ErrUnsafe = errors.New("cannot be repaired safely")

// Unsafe returns an error that matches [ErrUnsafe]. Its text is the reason alone.
func Unsafe(format string, args ...any) error { return unsafe(fmt.Sprintf(format, args...)) }

type unsafe string

func (e unsafe) Error() string { return string(e) }

func (unsafe) Is(target error) bool { return target == ErrUnsafe }
