// Package label makes label values from arbitrary names: short, valid UTF-8, and few, because ids are replaced by
// "*".
package label

import "strings"

const (
	// Other stands for the resources, or nodes, beyond the limit.
	Other = "other"
	// Invalid stands for names that no lock can have.
	Invalid = "invalid"
	// MaxLength is the most bytes of a label.
	MaxLength = 128
)

// Cut makes a label of a name without folding it.
func Cut(name string) string { return Valid(name[:min(len(name), MaxLength)]) }

// Valid makes a label valid for the registry.
func Valid(label string) string { return strings.ToValidUTF8(label, "_") }

// Fold appends name to label, with every word that looks like an id replaced by "*": order:1001 becomes order:*.
// Words lie between ASCII characters that are neither letters nor digits; a UUID, an e-mail address and a nanoid are
// one word each. It appends at most MaxLength bytes, and so never grows a label of that capacity.
func Fold(label []byte, name string) []byte {
	for i := 0; i < len(name) && len(label) < MaxLength; {
		end, id := nextWord(name, i)
		word := name[i:end]
		switch {
		case end == i:
			end++
			word = name[i:end]
		case id:
			word = "*"
		}
		label = append(label, word[:min(len(word), MaxLength-len(label))]...)
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
