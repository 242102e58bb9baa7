package records

import (
	"strings"

	"github.com/lockscope/lockscope/lock/internal/text"
)

// safeText keeps a text free of the separators of a lock value and of characters that
// hide, and at most limit bytes long.
func safeText(s string, limit int) string {
	s = strings.Map(func(r rune) rune {
		if r == '|' || text.Hides(r) {
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

// Instance is the name of a process as far as a record can hold it.
func Instance(name string) string { return safeText(name, maxInstanceLength) }
