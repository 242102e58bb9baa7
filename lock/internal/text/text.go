// Package text says which texts a node may store, and a person may be shown.
package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Hides reports whether a terminal, a log or a page obeys r instead of showing it: control characters, also those of
// C1, separators of lines, and what turns the direction of text.
func Hides(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
}

// Shows reports whether text is UTF-8 without characters that hide: a node may store it, and a page or a terminal print
// it.
func Shows(text string) bool { return utf8.ValidString(text) && !strings.ContainsFunc(text, Hides) }
