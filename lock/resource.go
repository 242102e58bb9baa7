package lock

import (
	"fmt"
	"unicode/utf8"

	"github.com/lockscope/lockscope/lock/internal/text"
)

// ValidateResource returns nil if name can be a resource, and else an error that matches
// [ErrInvalidResource]. Acquire calls it first. A name has 1 to [MaxResourceLength] bytes of UTF-8. Braces
// are not allowed, since they choose a cluster slot; nor are control characters, line separators and marks that
// turn the direction of text, which hide in logs and terminals.
func ValidateResource(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%w: empty; use 1 to %d bytes", ErrInvalidResource, MaxResourceLength)
	case len(name) > MaxResourceLength:
		return fmt.Errorf("%w: %d bytes long; use at most %d", ErrInvalidResource, len(name), MaxResourceLength)
	case !utf8.ValidString(name):
		return fmt.Errorf("%w: %q is not valid UTF-8", ErrInvalidResource, name)
	}
	for i, c := range name {
		if c == '{' || c == '}' || text.Hides(c) {
			return fmt.Errorf("%w: character %q at position %d; remove control characters and braces",
				ErrInvalidResource, c, i)
		}
	}
	return nil
}
