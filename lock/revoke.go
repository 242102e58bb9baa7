package lock

import (
	"fmt"
	"time"
)

// RevokedError is the cause of the end of a lease that somebody revoked. It matches [ErrLost].
type RevokedError struct {
	Resource string
	By       string // who revoked it
	Reason   string
	Since    time.Time // by the clock of the process that revoked it, to the millisecond
}

func (e *RevokedError) Error() string {
	return fmt.Sprintf("%v: %q was revoked by %s at %s: %s", ErrLost, e.Resource, e.By,
		e.Since.UTC().Format(time.RFC3339), e.Reason)
}

// Unwrap returns ErrLost.
func (e *RevokedError) Unwrap() error { return ErrLost }
