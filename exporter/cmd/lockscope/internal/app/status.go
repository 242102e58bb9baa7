package app

import "fmt"

// The exit statuses.
const (
	ExitClean    = 0
	ExitFindings = 1
	ExitError    = 2
	// ExitIncomplete is a scan that found nothing and is not proved to have read all.
	ExitIncomplete = 3
)

// StatusError ends the program with a status of its own. A nil err means that
// everything has been said already.
type StatusError struct {
	Status int
	Err    error
}

// Error is what there is to say.
func (e *StatusError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("status %d", e.Status)
	}
	return e.Err.Error()
}

// Unwrap implements errors.Unwrap.
func (e *StatusError) Unwrap() error { return e.Err }
