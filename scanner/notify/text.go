package notify

import (
	"crypto/sha256"
	"encoding/hex"
	"unicode/utf8"
)

const ellipsis = "…"

// clip cuts s to at most n bytes and marks the cut.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:boundary(s, n-len(ellipsis))] + ellipsis
}

// digestLength is long enough to keep the keys of one report apart.
const digestLength = 12

// clipUnique cuts s to at most n bytes. Different strings stay different.
func clipUnique(s string, n int) string {
	if len(s) <= n {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	tail := ellipsis + "#" + hex.EncodeToString(sum[:])[:digestLength]
	return s[:boundary(s, n-len(tail))] + tail
}

// boundary returns the last start of a character at or before n.
func boundary(s string, n int) int {
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return n
}
