package scanner

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
)

// maxNameLength of a holder, in bytes.
const maxNameLength = 128

// tokenLength of lockscope's owner tokens, with which its values begin.
const tokenLength = 32

// holdOf reads what the value tells.
func holdOf(v *keyreader.Value) Hold {
	switch v.Type {
	case keyreader.String:
		if h, ok := lockscopeHold(v.Head); ok {
			if v.Size > keyreader.HeadSize {
				h.Page = "" // it comes last, and may be cut off
			}
			return h
		}
		if h, ok := shedLockHold(v.Head); ok && v.Size <= keyreader.HeadSize {
			return h
		}
	case keyreader.Hash:
		if h, ok := redissonHold(v.Fields); ok {
			return h
		}
	}
	// The values of redsync, redislock and SETNX scripts are their owner tokens, or
	// may be: nothing of them is shown.
	return Hold{Format: FormatUnknown}
}

// lockscopeHold accepts a value cut off at [keyreader.HeadSize]: who holds it comes first.
func lockscopeHold(text string) (Hold, bool) {
	fence, h, ok := redlock.ParseValue(text)
	if !ok {
		return Hold{}, false
	}
	return Hold{Holder: h, Format: FormatLockscope, Fence: fence}, true
}

// tokenOf is the secret by which lockscope tells its attempts apart, on all nodes
// the same, or "" if lockscope did not write the value.
func tokenOf(v *keyreader.Value) string {
	token, _ := grantOf(v)
	return token
}

// grantOf is the token, and what the node counted when it granted it.
func grantOf(v *keyreader.Value) (token string, fence uint64) {
	if v.Type != keyreader.String {
		return "", 0
	}
	fence, _, ok := redlock.ParseValue(v.Head)
	if !ok {
		return "", 0
	}
	return v.Head[:tokenLength], fence
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

// shedLockHold reads ADDED:time@host:uuid. The uuid authorizes the release and
// is dropped.
func shedLockHold(text string) (Hold, bool) {
	rest, found := strings.CutPrefix(text, "ADDED:")
	at, rest, split := strings.Cut(rest, "@")
	if !found || !split {
		return Hold{}, false
	}
	since, err := time.Parse(time.RFC3339Nano, at)
	if err != nil {
		return Hold{}, false
	}
	h := Hold{Holder: lock.Holder{Since: since}, Format: FormatShedLock}
	if m := shedLockRest.FindStringSubmatch(rest); m != nil {
		h.Instance = cleanName(m[1])
	}
	return h, true
}

// redissonHold reads the fields of a Redisson lock: client:thread -> count, and
// "mode" in a read-write lock. The client's id and the thread together authorize
// the unlock, so no more of the id is shown than it takes to tell holders apart: 8
// characters of 36, with which nobody can guess the other 90 bits.
func redissonHold(fields [][2]string) (Hold, bool) {
	h := Hold{Format: FormatRedisson}
	var names []string
	for _, f := range fields {
		if f[0] == "mode" && (f[1] == "read" || f[1] == "write") {
			continue
		}
		m := redissonField.FindStringSubmatch(f[0])
		count, err := strconv.ParseInt(f[1], 10, 32)
		if m == nil || err != nil || count < 0 {
			return Hold{}, false
		}
		h.Count += int(count)
		if uuidOnly.MatchString(m[1]) {
			names = append(names, m[1][:8]+"…:"+m[2])
		} else {
			names = append(names, "…:"+m[2])
		}
	}
	h.Instance = cleanName(strings.Join(names, " "))
	return h, len(names) > 0
}

// cleanName keeps a name on one line and short: anybody can write a value.
func cleanName(s string) string {
	s = strings.Map(func(r rune) rune {
		if !strconv.IsPrint(r) {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(s, "_"))
	if len(s) > maxNameLength {
		s = strings.ToValidUTF8(s[:maxNameLength], "")
	}
	return s
}
