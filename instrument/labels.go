package instrument

import "strings"

const (
	// otherLabel stands for all resources, or nodes, that are too many.
	otherLabel = "other"
	// maxLabel is how many bytes of a label are used.
	maxLabel = 128
	// From these lengths on, a word is taken for an id if it is hexadecimal and has
	// a digit, mixes upper and lower case with digits, mixes letters and digits, or
	// whatever it consists of.
	minHex, minMixed, minAlnum, minLong = 8, 10, 16, 32
)

// seriesOf finds the series of a resource.
func (l *Locker) seriesOf(resource string) *series {
	var space [maxLabel]byte
	if l.label != nil {
		if label := l.customLabel(resource); label != "" {
			return l.metrics.seriesOf(append(space[:0], label[:min(len(label), maxLabel)]...))
		}
	}
	label := fold(space[:0], resource)
	if len(label) == 0 {
		label = append(label, otherLabel...)
	}
	return l.metrics.seriesOf(label)
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
// that are neither letters nor digits; a UUID is one word. It appends no more than
// maxLabel bytes, and so never grows a label of that capacity.
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
	var k letters
	for end = i; end < len(s) && k.count(s[end]); end++ {
	}
	return end, k.idLike(end - i)
}

// letters counts what a word consists of.
type letters struct{ digits, hexes, uppers, lowers int }

// count reports that c belongs to a word.
func (k *letters) count(c byte) bool {
	switch { // differences of bytes wrap around
	case c-'0' <= 9:
		k.digits++
		k.hexes++
	case c-'a' <= 'z'-'a':
		k.lowers++
		if c <= 'f' {
			k.hexes++
		}
	case c-'A' <= 'Z'-'A':
		k.uppers++
		if c <= 'F' {
			k.hexes++
		}
	default:
		return c >= 0x80
	}
	return true
}

func (k *letters) idLike(n int) bool {
	switch {
	case k.digits == n, n >= minLong:
		return true
	case k.digits == 0:
		return false
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
