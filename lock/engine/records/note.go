package records

import (
	"fmt"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/internal/text"
)

// ValidateReason fails with lock.ErrInvalidOption unless the text has 1 to lock.MaxReasonLength bytes of UTF-8, and no
// character that lock.ValidateResource refuses as hidden.
func ValidateReason(note string) error { return validNote("the reason", note, lock.MaxReasonLength) }

// ValidateBy is ValidateReason for the name of who revokes a lease, which has MaxByLength bytes at most.
func ValidateBy(name string) error { return validNote("the name", name, MaxByLength) }

// validNote accepts a text that nodes store and people read.
func validNote(name, note string, limit int) error {
	switch {
	case note == "":
		return fmt.Errorf("%w: %s is empty", lock.ErrInvalidOption, name)
	case len(note) > limit:
		return fmt.Errorf("%w: %s has %d bytes: use %d at most", lock.ErrInvalidOption, name, len(note), limit)
	case !text.Shows(note):
		return fmt.Errorf("%w: %s has a control character, a mark that turns the direction of text, or is not UTF-8",
			lock.ErrInvalidOption, name)
	}
	return nil
}
