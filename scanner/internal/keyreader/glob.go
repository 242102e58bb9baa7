package keyreader

import (
	"strings"
)

// Matches reports whether s matches a glob pattern as in Redis. Each element except the star matches exactly one
// byte, so backtracking to the last star is enough.
func Matches(pattern, s string) bool {
	p, i := 0, 0
	star, resume := -1, 0
	for i < len(s) {
		if p < len(pattern) && pattern[p] == '*' {
			star, resume = p, i
			p++
			continue
		}
		if p < len(pattern) {
			if matched, width := globElement(pattern[p:], s[i]); matched {
				p += width
				i++
				continue
			}
		}
		if star < 0 {
			return false
		}
		resume++
		p, i = star+1, resume
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// globElement reports whether the first element of pattern matches b, and how long that element is.
func globElement(pattern string, b byte) (matched bool, width int) {
	switch {
	case pattern[0] == '?':
		return true, 1
	case pattern[0] == '[':
		return globClass(pattern, b)
	case pattern[0] == '\\' && len(pattern) > 1:
		return pattern[1] == b, 2
	}
	return pattern[0] == b, 1
}

// globClass reads [abc], [^abc] and [a-z]. An unclosed class ends with the pattern.
func globClass(pattern string, b byte) (matched bool, width int) {
	i := 1
	negated := i < len(pattern) && pattern[i] == '^'
	if negated {
		i++
	}
	for i < len(pattern) && pattern[i] != ']' {
		low, high, next := globRange(pattern, i)
		matched = matched || low <= b && b <= high
		i = next
	}
	return matched != negated, min(i+1, len(pattern))
}

// globRange reads a byte, an escaped byte, or a range at i in a class. The ends of a range may be in either order.
func globRange(pattern string, i int) (low, high byte, next int) {
	rest := pattern[i:]
	switch {
	case rest[0] == '\\' && len(rest) >= 2:
		return rest[1], rest[1], i + 2
	case len(rest) >= 3 && rest[1] == '-':
		return min(rest[0], rest[2]), max(rest[0], rest[2]), i + 3
	}
	return rest[0], rest[0], i + 1
}

// Escape returns a glob pattern that matches exactly the text.
func Escape(s string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `^`, `\^`, `-`, `\-`).Replace(s)
}

// LiteralHead returns the prefix of every key that matches the pattern.
func LiteralHead(pattern string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '*', '?', '[':
			return b.String()
		case '\\':
			if i++; i < len(pattern) {
				b.WriteByte(pattern[i])
			}
		default:
			b.WriteByte(pattern[i])
		}
	}
	return b.String()
}

// helperPrefixes are prefixes of keys that locks need but that are not locks. Some never expire by design: without the
// counters of fences, a resource would take an old token for a new one.
func helperPrefixes() []string {
	return []string{"lockscope:", "redisson_", "syncguard:fence:", "syncguard:id:"}
}

// rwTimeout is part of the names of helper keys of Redisson's read-write locks.
const rwTimeout = ":rwlock_timeout:"

// IsHelper reports whether a key belongs to a lock but is not one. page.lua has the same rule.
func IsHelper(key string) bool {
	for _, p := range helperPrefixes() {
		if strings.HasPrefix(key, p) {
			return true
		}
	}
	return strings.Contains(key, rwTimeout)
}

// matchesHelpers reports whether the pattern can match helper keys. Most patterns cannot, and then names need no
// check.
func matchesHelpers(pattern string) bool {
	head := LiteralHead(pattern)
	for _, p := range helperPrefixes() {
		if strings.HasPrefix(p, head) || strings.HasPrefix(head, p) {
			return true
		}
	}
	return head == "" || head[0] == '{' // as {lock:x}:rwlock_timeout: does
}
