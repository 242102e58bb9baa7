package value

import (
	"strings"
	"unicode"

	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/report"
)

// Distinction is how far a value tells one holder of a lock from the next.
type Distinction int

const (
	// Indistinct values are the same whoever holds the lock: a constant, a short text, one
	// that was not read as a whole. Only an expiry that stays what it was proves one lease.
	Indistinct Distinction = iota
	// PerClient values are the same each time one client has the lock, as those of Redisson
	// and Spring are, and perhaps names of hosts.
	PerClient
	// PerLease values are made anew for each lease: random tokens, and what says since when.
	PerLease
)

const (
	// shortestName is how long what tells two clients apart must be.
	shortestName = 16
	// shortestToken is 120 random bits in base64.
	shortestToken = 20
	// A random text goes from letters to digits and back, or between cases, at every other
	// character; a word does not, and a name of a host does so a few times.
	wordChanges  = 2
	tokenChanges = 7
	fewLetters   = 6 // distinct ones: less is a text like "aaaa..."
)

// named says that the text has the shape of a name, as hosts, pods and processes have, or
// of the UUID that Spring and Redisson know a client by.
func named(text string) bool {
	return strings.ContainsAny(text, "-.:@") && text == strings.ToLower(text)
}

// DistinctionOf judges a value by its shape.
func DistinctionOf(v *keyreader.Value, h *report.Hold) Distinction {
	switch {
	case v.Type == keyreader.Hash && v.Fields == nil: // too large, or not measured
		return Indistinct
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

// variety counts how often a text changes between digits, lower and upper case, and how
// many different characters it has.
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

// Kept says that a value does not tell one lease of its process from the next: Redisson's
// fields are a client and a thread, Spring's value is a registry's UUID, and a UUID may be
// either that or a token.
func Kept(v *keyreader.Value) bool {
	h := Holder(v)
	return DistinctionOf(v, &h) != PerLease
}
