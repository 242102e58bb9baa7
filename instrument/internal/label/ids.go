package label

import "strings"

// Ids that hold characters which end a word elsewhere.

// emailAt looks for an e-mail address at i, where a word begins.
func emailAt(s string, i int) (end int, ok bool) {
	if i > 0 && (inEmail(s[i-1]) || s[i-1] == '*') || !inEmail(s[i]) {
		return 0, false
	}
	at := i
	for at < len(s) && inEmail(s[at]) {
		at++
	}
	if at == i || at == len(s) || s[at] != '@' {
		return 0, false
	}
	for end = at + 1; end < len(s) && inDomain(s[end]); end++ {
	}
	host, top := "", ""
	if dot := strings.LastIndexByte(s[at+1:end], '.'); dot > 0 {
		host, top = s[at+1:at+1+dot], s[at+2+dot:end]
	}
	return end, host != "" && isTopLevel(top) && (end == len(s) || s[end] != '@' && s[end] < 0x80 && !inEmail(s[end]))
}

// isTopLevel tells a domain from a version number: letters only.
func isTopLevel(s string) bool {
	for i := range len(s) {
		if k := kindOf(s[i]); k != 'a' && k != 'A' {
			return false
		}
	}
	return len(s) >= 2
}

func inDomain(c byte) bool { return kindOf(c) != 0 || c == '.' || c == '-' }

func inEmail(c byte) bool {
	return inDomain(c) || c == '_' || c == '+' || c == '%' || c >= 0x80
}

const (
	nanoidLength = 21
	// nanoidChanges is the fewest changes between kinds of characters in a nanoid. Nanoids have twelve on average,
	// and names of that length half as many.
	nanoidChanges = 7
)

// nanoidAt looks for a run of letters, digits, '-' and '_' of exactly that length. A run next to a "*" is the rest of
// another id: folding twice must change nothing.
func nanoidAt(s string, i int) bool {
	end := i + nanoidLength
	if end > len(s) || end < len(s) && (inNanoid(s[end]) || s[end] == '*') {
		return false
	}
	if i > 0 && (inNanoid(s[i-1]) && (kindOf(s[i-1]) != 0 || kindOf(s[i]) == 0) || s[i-1] == '*') {
		return false
	}
	var k letters
	for _, c := range []byte(s[i:end]) {
		if !inNanoid(c) {
			return false
		}
		k.count(c)
	}
	return k.uppers > 0 && k.lowers > 0 && k.changes >= nanoidChanges
}

func inNanoid(c byte) bool { return kindOf(c) != 0 || c == '-' || c == '_' }

const uuidLength = 36

// uuidAt looks at the first dash first, because most words are not UUIDs.
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
