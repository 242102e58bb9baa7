package keyreader

import "strings"

// helperPrefixes are of keys that locks need and that are not locks: some never
// expire by design.
func helperPrefixes() []string { return []string{"lockscope:", "redisson_"} }

// rwTimeout is in the names of keys of Redisson's read-write locks.
const rwTimeout = ":rwlock_timeout:"

// IsHelper says whether a key belongs to a lock but is none. page.lua has the same.
func IsHelper(key string) bool {
	for _, p := range helperPrefixes() {
		if strings.HasPrefix(key, p) {
			return true
		}
	}
	return strings.Contains(key, rwTimeout)
}

// matchesHelpers says whether the pattern can match keys with helperPrefixes. Most
// cannot, and need not have each key's name looked at.
func matchesHelpers(pattern string) bool {
	head := LiteralHead(pattern)
	for _, p := range helperPrefixes() {
		if strings.HasPrefix(p, head) || strings.HasPrefix(head, p) {
			return true
		}
	}
	return head == "" || head[0] == '{' // as {lock:x}:rwlock_timeout: does
}
