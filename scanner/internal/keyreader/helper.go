package keyreader

import "strings"

// helperPrefixes are prefixes of keys that locks need but that are not locks. Some never expire by design.
func helperPrefixes() []string { return []string{"lockscope:", "redisson_"} }

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
