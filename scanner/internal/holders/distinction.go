package holders

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
)

// Distinction is how well a value identifies one holder of a lock.
type Distinction int

const (
	// Indistinct values do not identify the holder: a constant, a short text, or one that was not read completely.
	// Only an unchanged expiry proves one lease.
	Indistinct Distinction = iota
	// PerClient values are the same whenever one client has the lock: those of Redisson and Spring, and perhaps host
	// names.
	PerClient
	// PerLease values are new for each lease: random tokens, and times.
	PerLease
)

const (
	// shortestName is how long a text that identifies a client must be.
	shortestName = 16
	// shortestToken is 120 random bits in base64.
	shortestToken = 20
	// A random text goes from letters to digits and back, or between cases, at every other
	// character; a word does not, and a name of a host does so a few times.
	wordChanges  = 2
	tokenChanges = 7
	fewLetters   = 6 // distinct ones: less is a text like "aaaa..."
)

// named reports whether the text has the form of a host, pod or process name, or of the UUID by which Spring and
// Redisson identify a client.
func named(text string) bool {
	return strings.ContainsAny(text, "-.:@") && text == strings.ToLower(text)
}

// DistinctionOf judges a value by its form.
func DistinctionOf(v *keyreader.Value, h *inspect.Hold) Distinction {
	switch {
	case v.Type == keyreader.Hash && v.Fields == nil: // too large, or not measured
		return Indistinct
	case v.Type == keyreader.Hash && Readers(v):
		return PerLease
	case v.Type == keyreader.Hash:
		return PerClient
	case v.Type != keyreader.String || v.Size > int64(len(v.Head)):
		return Indistinct
	case !h.Since.IsZero():
		return PerLease
	}
	changes, letters := variety(v.Head)
	switch {
	case len(v.Head) < shortestName || changes <= wordChanges || letters < fewLetters:
		return Indistinct
	case len(v.Head) < shortestToken || changes < tokenChanges || named(v.Head):
		return PerClient
	}
	return PerLease
}

// variety counts how often a text changes between digits, lower and upper case, and its distinct characters.
func variety(text string) (changes, letters int) {
	before := 0
	for _, r := range text {
		kind := before
		switch {
		case unicode.IsDigit(r):
			kind = 1
		case unicode.IsUpper(r):
			kind = 2
		case unicode.IsLetter(r):
			kind = 3
		case r == unicode.ReplacementChar || !unicode.IsPrint(r):
			kind = 4 // bytes as they come from a generator
		}
		if kind != before && before != 0 {
			changes++
		}
		before = kind
	}
	for i, r := range text {
		if !strings.ContainsRune(text[:i], r) {
			letters++
		}
	}
	return changes, letters
}

// redsyncToken is 16 random bytes in base64.
var redsyncToken = regexp.MustCompile(`^[0-9A-Za-z+/]{21}[AQgw]==$`)

// Kept reports whether a process may write the value again for its next lease. Only the tokens of lockscope and
// redsync, and ShedLock's values, which name an instant, are known to be one lease's. Redisson's fields are a client
// and a thread, Spring's value is a registry's UUID, and a UUID or a long random text may be that of a process or a
// host.
func Kept(v *keyreader.Value) bool {
	switch {
	case Token(v) != "", v.Type == keyreader.Hash && Readers(v):
		return false
	case v.Type != keyreader.String || v.Size > keyreader.HeadSize:
		return true
	}
	h, named := shedLockHolder(v.Head)
	return !redsyncToken.MatchString(v.Head) && (!named || h.Instance == "")
}
