package notify

import (
	"errors"
	"fmt"
)

// Errors of construction, before anything is sent.
var (
	// ErrInvalidURL says that a URL is not one to post to. Its text is withheld.
	ErrInvalidURL = errors.New("notify: invalid URL")
	// ErrInvalidOption says that an option's value is not usable.
	ErrInvalidOption = errors.New("notify: invalid option")
)

// ErrRedirect says that an endpoint wants the document elsewhere: on another host,
// or without its body. Give the notifier the final URL.
var ErrRedirect = errors.New("redirect not followed: configure the final URL")

// SendError says that an endpoint did not take what was sent. Notify returns it
// wrapped or joined; find it with [errors.AsType].
type SendError struct {
	Endpoint string // scheme and host only
	Attempts int    // made, including the first
	Err      error  // of the last attempt: a *StatusError, a network error or the context's
}

func (e *SendError) Error() string {
	return fmt.Sprintf("notify: %s after %d attempts: %v", e.Endpoint, e.Attempts, e.Err)
}

// Unwrap returns the last attempt's error.
func (e *SendError) Unwrap() error { return e.Err }

// StatusError is an answer other than 2xx.
type StatusError struct {
	Status int
	Body   string // its beginning, without what is secret
}

func (e *StatusError) Error() string {
	if e.Body == "" {
		return fmt.Sprintf("answered %d", e.Status)
	}
	return fmt.Sprintf("answered %d: %q", e.Status, e.Body)
}

// retryable tells a failure of the server, which may pass, from a refusal.
func (e *StatusError) retryable() bool { return e.Status >= 500 }
