package instrument

import (
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock"
)

const (
	// otherLabel stands for all resources, or nodes, that are too many.
	otherLabel = "other"
	// maxLabel is how many bytes of a label are used.
	maxLabel = 128
	// From these lengths on, a word is taken for an id if it is hexadecimal and has
	// a digit, mixes upper and lower case with digits, mixes letters and digits, or
	// whatever it consists of.
	minHex, minMixed, minAlnum, minLong = 8, 10, 16, 32
	// Lengths of ids that may do without digits, and how often they go from one case to another.
	base62UUID, ksuid, minChanges = 22, 27, 9
	// invalidLabel stands for names that no lock can have.
	invalidLabel = "invalid"
)

// seriesOf finds the series of a resource, for a call that begins now.
func (l *Locker) seriesOf(resource string, now time.Time) *series {
	if lock.ValidateResource(resource) != nil {
		return l.metrics.useInvalid(now)
	}
	if s := l.metrics.useReserved(resource, now); s != nil {
		return s
	}
	var space [maxLabel]byte
	if l.label != nil {
		if label := l.customLabel(resource); label != "" {
			return l.metrics.useLabel(append(space[:0], label[:min(len(label), maxLabel)]...), now)
		}
	}
	return l.metrics.useLabel(fold(space[:0], resource), now)
}

// customLabel is "" if the user's function panics.
func (l *Locker) customLabel(resource string) (label string) {
	defer l.contain()
	return l.label(resource)
}

// validLabel makes a label what the registry accepts.
func validLabel(label string) string { return strings.ToValidUTF8(label, "_") }

// fold appends name to label with every word that looks like an id replaced by
// "*": order:1001 becomes order:*. Words are what lies between ASCII characters
// that are neither letters nor digits; UUIDs, e-mail addresses and nanoids are one word
// each. It appends no more than maxLabel bytes, and so never grows a label of that capacity.
func fold(label []byte, name string) []byte {
	for i := 0; i < len(name) && len(label) < maxLabel; {
		end, id := nextWord(name, i)
		word := name[i:end]
		switch {
		case end == i:
			end++
			word = name[i:end]
		case id:
			word = "*"
		}
		label = append(label, word[:min(len(word), maxLabel-len(label))]...)
		i = end
	}
	return label
}

// nextWord returns where the word at i ends, and whether it looks like an id.
func nextWord(s string, i int) (end int, id bool) {
	if uuidAt(s, i) {
		return i + uuidLength, true
	}
	if end, ok := emailAt(s, i); ok {
		return end, true
	}
	if nanoidAt(s, i) {
		return i + nanoidLength, true
	}
	var k letters
	for end = i; end < len(s) && k.count(s[end]); end++ {
	}
	return end, k.idLike(end - i)
}

// letters counts what a word consists of.
type letters struct {
	digits, hexes, uppers, lowers int
	changes                       int // from one of digits, uppers and lowers to another
	last                          byte
}

// count reports that c belongs to a word.
func (k *letters) count(c byte) bool {
	kind := kindOf(c)
	switch kind {
	case '0':
		k.digits++
		k.hexes++
	case 'a':
		k.lowers++
		if c <= 'f' {
			k.hexes++
		}
	case 'A':
		k.uppers++
		if c <= 'F' {
			k.hexes++
		}
	}
	if kind != 0 && k.last != 0 && kind != k.last {
		k.changes++
	}
	k.last = kind
	return kind != 0 || c >= 0x80
}

// kindOf is '0' for a digit, 'a' or 'A' for a letter, and else 0.
func kindOf(c byte) byte {
	switch { // differences of bytes wrap around
	case c-'0' <= 9:
		return '0'
	case c-'a' <= 'z'-'a':
		return 'a'
	case c-'A' <= 'Z'-'A':
		return 'A'
	default:
		return 0
	}
}

func (k *letters) idLike(n int) bool {
	switch {
	case k.digits == n, n >= minLong:
		return true
	case k.digits == 0:
		// One in a hundred of these ids has no digit. Words put together change less often.
		return (n == base62UUID || n == ksuid) && k.uppers+k.lowers == n && k.changes >= minChanges
	case k.hexes == n && n >= minHex:
		return true
	default:
		return k.uppers > 0 && k.lowers > 0 && n >= minMixed || n >= minAlnum
	}
}

const uuidLength = 36

// uuidAt looks at the first dash first: most words are no UUID.
func uuidAt(s string, i int) bool {
	if len(s)-i < uuidLength || s[i+8] != '-' || s[i+13] != '-' || s[i+18] != '-' || s[i+23] != '-' {
		return false
	}
	var k letters
	for _, c := range []byte(s[i : i+uuidLength]) {
		k.count(c)
	}
	return k.hexes == uuidLength-4 && (len(s)-i == uuidLength || !k.count(s[i+uuidLength]))
}
