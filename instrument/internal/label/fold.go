// Package label makes values of labels from names that anybody may have chosen: short, valid
// UTF-8, and few, for what looks like an id is folded.
package label

import "strings"

const (
	// Other stands for all resources, or nodes, that are too many.
	Other = "other"
	// Invalid stands for names that no lock can have.
	Invalid = "invalid"
	// MaxLength is how many bytes of a label are used.
	MaxLength = 128
)

// Cut makes a label of a name without folding it.
func Cut(name string) string { return Valid(name[:min(len(name), MaxLength)]) }

// Valid makes a label what the registry accepts.
func Valid(label string) string { return strings.ToValidUTF8(label, "_") }

// Fold appends name to label with every word that looks like an id replaced by
// "*": order:1001 becomes order:*. Words are what lies between ASCII characters
// that are neither letters nor digits; UUIDs, e-mail addresses and nanoids are one word
// each. It appends no more than MaxLength bytes, and so never grows a label of that capacity.
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
