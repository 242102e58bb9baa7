package main

import "fmt"

// The exit statuses.
const (
	exitClean    = 0
	exitFindings = 1
	exitError    = 2
	// exitIncomplete is a scan that found nothing and is not proved to have read all.
	exitIncomplete = 3
)

// statusError ends the program with a status of its own. A nil err means that
// everything has been said already.
type statusError struct {
	status int
	err    error
}

func (e *statusError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("status %d", e.status)
	}
	return e.err.Error()
}

func (e *statusError) Unwrap() error { return e.err }
