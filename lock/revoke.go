package lock

import (
	"fmt"
	"time"

	"github.com/lockscope/lockscope/lock/internal/text"
)

// ValidateReason fails with [ErrInvalidOption] unless the text has 1 to [MaxReasonLength] bytes of UTF-8, and no
// character that [ValidateResource] refuses as hidden.
func ValidateReason(text string) error { return validNote("the reason", text, MaxReasonLength) }

// validNote accepts a text that nodes store and people read.
func validNote(name, note string, limit int) error {
	switch {
	case note == "":
		return fmt.Errorf("%w: %s is empty", ErrInvalidOption, name)
	case len(note) > limit:
		return fmt.Errorf("%w: %s has %d bytes: use %d at most", ErrInvalidOption, name, len(note), limit)
	case !text.Shows(note):
		return fmt.Errorf("%w: %s has a control character, a mark that turns the direction of text, or is not UTF-8",
			ErrInvalidOption, name)
	}
	return nil
}

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
