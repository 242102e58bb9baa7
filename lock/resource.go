package lock

import (
	"fmt"
	"strings"
)

// MaxResourceLength is the longest resource name in bytes.
const MaxResourceLength = 512

// ValidateResource says why no lock can have the name, in an error that matches
// [ErrInvalidResource], or nil. [Engine.Acquire] asks it before anything else: names are
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

// safeText keeps a text free of the separators of a lock value and of control
// characters, and at most limit bytes long.
func safeText(s string, limit int) string {
	s = strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f || r == '|' {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(s, "_"))
	for len(s) > limit {
		s = s[:limit]
		s = strings.ToValidUTF8(s, "")
	}
	return s
}
