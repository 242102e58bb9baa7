package holders

import (
	"regexp"
	"strings"

	"github.com/lockscope/lockscope/scanner/internal/keyreader"
)

const (
	// leastMixed is how long a run of letters and digits must be: of base64 16
	// characters are 96 bits.
	leastMixed = 16
	// leastDifferent is how many different characters must be among those: of 16 random
	// ones fewer are one case in thousands, of "aaaaaaaaaaaaaaa1" always.
	leastDifferent = 8
	// leastTurns is how often in leastMixed characters capitals, small letters and digits
	// must take turns: names such as PaymentServiceHost1 do so at the start of each word.
	leastTurns = 7
	// clearTurns is as often as no name does, with or without digits.
	clearTurns = 9
	// leastDigitTurns is leastTurns where there are letters of one case and digits only.
	leastDigitTurns = 5
)

var (
	uuidWithin = regexp.MustCompile(uuidText)
	// hexWithin leaves out shorter runs: they are also the ids of containers and machines,
	// which every lock of a process has.
	hexWithin = regexp.MustCompile(`[0-9a-fA-F]{32,}`)
	// alphanumerics are what base64 is made of, with the signs of both its alphabets.
	alphanumerics = regexp.MustCompile(`[0-9A-Za-z+/_-]{16,}`)
)

// Doubt says why a value does not identify one owner, or returns "" if it does. Only a random value, or one that
// names an instant, does. A few in a hundred good values are doubted, which costs a repair but no lock.
func Doubt(v *keyreader.Value) string {
	switch {
	case Token(v) != "":
		return "" // its token comes first: it is compared, however long the value is
	case v.Type == keyreader.Hash:
		return doubtOfHash(v)
	case v.Type != keyreader.String:
		return "it is a " + v.Type + ", a type that no lock has"
	case v.Size > keyreader.HeadSize:
		return "its value is longer than the 256 bytes that are compared"
	}
	if h, ok := shedLockHolder(v.Head); ok && h.Instance != "" {
		return ""
	}
	if !random(v.Head) {
		return "its value may be the same for every owner: " +
			"it contains no UUID, no 32 hex digits and no random text of 16 characters"
	}
	return ""
}

// doubtOfHash accepts only readers of lockscope, and Redisson's clients, which are UUIDs, as names of fields.
func doubtOfHash(v *keyreader.Value) string {
	if v.Fields == nil {
		return "its fields were not all read, or the server does not report its size (+memory|usage)"
	}
	if Readers(v) {
		return "" // a repair compares the token of one
	}
	if _, ok := redissonHolder(v.Fields); !ok {
		return "its fields are not those of a Redisson lock"
	}
	for _, f := range v.Fields {
		if f[0] == "mode" {
			continue
		}
		m := redissonField.FindStringSubmatch(f[0])
		if m == nil || !uuidOnly.MatchString(m[1]) || different(m[1]) < leastDifferent {
			return "its client id is not a UUID"
		}
	}
	return ""
}

// random reports whether part of a text looks randomly generated.
func random(text string) bool {
	for _, run := range append(uuidWithin.FindAllString(text, -1), hexWithin.FindAllString(text, -1)...) {
		if different(run) >= leastDifferent {
			return true
		}
	}
	for _, run := range alphanumerics.FindAllString(text, -1) {
		if mixedCase(run) || mixedDigits(run) {
			return true
		}
	}
	return false
}

// mixedCase reports whether capitals, small letters and digits alternate within some 16 characters of a run. The
// signs of base64 do not count, because they join words.
func mixedCase(run string) bool {
	letters := strings.Map(func(r rune) rune {
		if kindOf(byte(r)) == 0 {
			return -1
		}
		return r
	}, run)
	kinds, _ := takeTurns(letters)
	least := leastTurns
	if kinds < 3 {
		least = clearTurns
	}
	for ; len(letters) >= leastMixed; letters = letters[1:] {
		some := letters[:leastMixed]
		if _, turns := takeTurns(some); turns >= least && different(some) >= leastDifferent &&
			strings.ToLower(some) != some && strings.ToUpper(some) != some {
			return true
		}
	}
	return false
}

// mixedDigits reports the same for letters of one case and digits, with at least one letter that is not hexadecimal.
// Signs end a run, because they join parts of host names.
func mixedDigits(run string) bool {
	for part := range strings.FieldsFuncSeq(run, func(r rune) bool { return kindOf(byte(r)) == 0 }) {
		for ; len(part) >= leastMixed; part = part[1:] {
			some := part[:leastMixed]
			kinds, turns := takeTurns(some)
			if kinds == 2 && turns >= leastDigitTurns && different(some) >= leastDifferent &&
				strings.ContainsAny(some, "0123456789") &&
				strings.ContainsAny(strings.ToLower(some), "ghijklmnopqrstuvwxyz") {
				return true
			}
		}
	}
	return false
}

// kindOf is 1 for capitals, 2 for small letters, 3 for digits and 0 for all else.
func kindOf(c byte) int {
	switch {
	case 'A' <= c && c <= 'Z':
		return 1
	case 'a' <= c && c <= 'z':
		return 2
	case '0' <= c && c <= '9':
		return 3
	}
	return 0
}

// takeTurns counts the kinds of characters in a text, and how often one kind follows another.
func takeTurns(text string) (kinds, turns int) {
	var has [4]bool
	for i := range len(text) {
		has[kindOf(text[i])] = true
		if i > 0 && kindOf(text[i]) != kindOf(text[i-1]) {
			turns++
		}
	}
	for _, is := range has {
		if is {
			kinds++
		}
	}
	return kinds, turns
}

// different counts the distinct characters of a text.
func different(text string) (n int) {
	var has [256]bool
	for i := range len(text) {
		if !has[text[i]] {
			has[text[i]] = true
			n++
		}
	}
	return n
}
