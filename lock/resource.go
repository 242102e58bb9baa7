package lock

import "fmt"

// ValidateResource returns nil if name can be a resource, and else an error that matches
// [ErrInvalidResource]. Acquire calls it first. A name has 1 to [MaxResourceLength] bytes. Braces
// are not allowed, since they choose a cluster slot; nor are control characters, which hide in logs
// and terminals.
func ValidateResource(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%w: empty; use 1 to %d bytes", ErrInvalidResource, MaxResourceLength)
	case len(name) > MaxResourceLength:
		return fmt.Errorf("%w: %d bytes long; use at most %d", ErrInvalidResource, len(name), MaxResourceLength)
	}
	for i := range len(name) {
		if c := name[i]; c < 0x20 || c == 0x7f || c == '{' || c == '}' {
			return fmt.Errorf("%w: byte %q at position %d; remove control characters and braces",
				ErrInvalidResource, c, i)
		}
	}
	return nil
}
