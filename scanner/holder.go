package scanner

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock/redlock"
)

// maxNameLength of a holder, in bytes.
const maxNameLength = 128

// tokenLength of lockscope's owner tokens, with which its values begin.
const tokenLength = 32

// holder says what the value tells about its writer.
func (v *value) holder() Holder {
	switch v.kind {
	case kindString:
		if h, ok := lockscopeHolder(v.head); ok {
			return h
		}
		if h, ok := shedLockHolder(v.head); ok && v.size <= headSize {
			return h
		}
	case kindHash:
		if h, ok := redissonHolder(v.fields); ok {
			return h
		}
	}
	// The values of redsync, redislock and SETNX scripts are their owner tokens, or
	// may be: nothing of them is shown.
	return Holder{Format: FormatUnknown}
}

// lockscopeHolder accepts a value cut off at headSize: who holds it comes first.
func lockscopeHolder(text string) (Holder, bool) {
	fence, h, ok := redlock.ParseValue(text)
	if !ok {
		return Holder{}, false
	}
	return Holder{Format: FormatLockscope, Name: h.Instance, Since: h.Since, Traceparent: h.Traceparent, Fence: fence}, true
}

// token is the secret by which lockscope tells its attempts apart, on all nodes
// the same, or "" if lockscope did not write the value.
func (v *value) token() string {
	if v.kind != kindString {
		return ""
	}
	if _, _, ok := redlock.ParseValue(v.head); !ok {
		return ""
	}
	return v.head[:tokenLength]
}

// uuidText matches what ShedLock and Redisson make identifiers of.
const uuidText = `[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`

var (
	// shedLockRest is what follows the time: host, and the secret of newer versions.
	shedLockRest = regexp.MustCompile(`^([^:]*)(:` + uuidText + `)?$`)
	// redissonField names client and thread; write locks have a suffix.
	redissonField = regexp.MustCompile(`^(.+):(\d{1,20})(:write)?$`)
	uuidOnly      = regexp.MustCompile(`^` + uuidText + `$`)
)

// shedLockHolder reads ADDED:time@host:uuid. The uuid authorizes the release and
// is dropped.
func shedLockHolder(text string) (Holder, bool) {
	rest, found := strings.CutPrefix(text, "ADDED:")
	at, rest, split := strings.Cut(rest, "@")
	if !found || !split {
		return Holder{}, false
	}
	since, err := time.Parse(time.RFC3339Nano, at)
	if err != nil {
		return Holder{}, false
	}
	h := Holder{Format: FormatShedLock, Since: since}
	if m := shedLockRest.FindStringSubmatch(rest); m != nil {
		h.Name = cleanName(m[1])
	}
	return h, true
}

// redissonHolder reads the fields of a Redisson lock: client:thread -> count, and
// "mode" in a read-write lock. The client's id and the thread together authorize
// the unlock, so no more of the id is shown than it takes to tell holders apart: 8
// characters of 36, with which nobody can guess the other 90 bits.
func redissonHolder(fields [][2]string) (Holder, bool) {
	h := Holder{Format: FormatRedisson}
	var names []string
	for _, f := range fields {
		if f[0] == "mode" && (f[1] == "read" || f[1] == "write") {
			continue
		}
		m := redissonField.FindStringSubmatch(f[0])
		count, err := strconv.ParseInt(f[1], 10, 32)
		if m == nil || err != nil || count < 0 {
			return Holder{}, false
		}
		h.Count += int(count)
		if uuidOnly.MatchString(m[1]) {
			names = append(names, m[1][:8]+"…:"+m[2])
		} else {
			names = append(names, "…:"+m[2])
		}
	}
	h.Name = cleanName(strings.Join(names, " "))
	return h, len(names) > 0
}

// cleanName keeps a name on one line and short: anybody can write a value.
func cleanName(s string) string {
	s = strings.Map(func(r rune) rune {
		if unprintable(r) {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(s, "_"))
	if len(s) > maxNameLength {
		s = strings.ToValidUTF8(s[:maxNameLength], "")
	}
	return s
}

// helperPrefixes are of keys that locks need and that are not locks: some never
// expire by design.
func helperPrefixes() []string { return []string{"lockscope:", "redisson_"} }

// rwTimeout is in the names of keys of Redisson's read-write locks.
const rwTimeout = ":rwlock_timeout:"

// helperKey says whether a key belongs to a lock but is none. page.lua has the same.
func helperKey(key string) bool {
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
	head := literalHead(pattern)
	for _, p := range helperPrefixes() {
		if strings.HasPrefix(p, head) || strings.HasPrefix(head, p) {
			return true
		}
	}
	return head == "" || head[0] == '{' // as {lock:x}:rwlock_timeout: does
}

// literalHead is what every key that matches the pattern begins with.
func literalHead(pattern string) string {
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
