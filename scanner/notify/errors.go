package notify

import (
	"errors"
	"fmt"
)

// Errors of construction, before anything is sent.
var (
	// ErrInvalidURL reports an unusable URL. The error withholds its text.
	ErrInvalidURL = errors.New("notify: invalid URL")
	// ErrInvalidOption reports an unusable option value.
	ErrInvalidOption = errors.New("notify: invalid option")
)

// ErrRedirect reports a redirect to another host, or one that would drop the body. Give the notifier the final URL.
var ErrRedirect = errors.New("redirect not followed: configure the final URL")

// SendError reports that an endpoint did not take what was sent. Notify returns it wrapped or joined; find it with
// [errors.AsType].
type SendError struct {
	Endpoint string // scheme and host only
	Attempts int    // including the first
	Err      error  // of the last attempt: a *StatusError, a network error or the context's error
}

func (e *SendError) Error() string {
	return fmt.Sprintf("notify: %s after %d attempts: %v", e.Endpoint, e.Attempts, e.Err)
}

// Unwrap returns the last attempt's error.
func (e *SendError) Unwrap() error { return e.Err }

// StatusError is an answer other than 2xx.
type StatusError struct {
	Status int
	Body   string // its beginning, without secrets
}

func (e *StatusError) Error() string {
	if e.Body == "" {
		return fmt.Sprintf("answered %d", e.Status)
	}
	return fmt.Sprintf("answered %d: %q", e.Status, e.Body)
}

// retryable reports whether the server failed, which may pass, rather than refused.
func (e *StatusError) retryable() bool { return e.Status >= 500 }
