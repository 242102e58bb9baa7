package lock

import "fmt"

// ValidateResource says why no lock can have the name, in an error that matches
// [ErrInvalidResource], or nil. Acquire asks it before anything else: names are
// 1 to [MaxResourceLength] bytes without what could not be told apart from key syntax. Braces
// choose a cluster slot, control characters hide in logs and terminals.
func ValidateResource(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%w: it is empty", ErrInvalidResource)
	case len(name) > MaxResourceLength:
		return fmt.Errorf("%w: %d bytes, at most %d are allowed", ErrInvalidResource, len(name), MaxResourceLength)
	}
	for i := range len(name) {
		if c := name[i]; c < 0x20 || c == 0x7f || c == '{' || c == '}' {
			return fmt.Errorf("%w: byte %q at position %d; control characters and braces are not allowed",
				ErrInvalidResource, c, i)
		}
	}
	return nil
}
