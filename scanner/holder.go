package scanner

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
)

// Format names who wrote a lock's value, as far as its shape tells.
type Format string

// The formats of lock values.
const (
	FormatLockscope Format = "lockscope"
	FormatRedisson  Format = "redisson"
	FormatShedLock  Format = "shedlock"
	FormatUnknown   Format = "unknown"
)

// Holder is what a lock's value says about the process that wrote it. It never
// holds an owner token.
type Holder struct {
	Format      Format
	Name        string    // instance, host or Redisson's client and thread; empty if the value does not tell
	Since       time.Time // by the holder's clock; zero if the value does not tell
	Count       int       // re-entries of a Redisson lock; else zero
	Traceparent string    // W3C trace context of a lockscope lock; else empty
	Fence       uint64    // fencing token of a lockscope lock; else zero
}

// maxNameLength of a holder, in bytes.
const maxNameLength = 128

// tokenLength of lockscope's owner tokens, with which its values begin.
const tokenLength = 32

// holderOf says what the value tells about its writer.
func holderOf(v *keyreader.Value) Holder {
	switch v.Type {
	case keyreader.String:
		if h, ok := lockscopeHolder(v.Head); ok {
			return h
		}
		if h, ok := shedLockHolder(v.Head); ok && v.Size <= keyreader.HeadSize {
			return h
		}
	case keyreader.Hash:
		if h, ok := redissonHolder(v.Fields); ok {
			return h
		}
	}
	// The values of redsync, redislock and SETNX scripts are their owner tokens, or
	// may be: nothing of them is shown.
	return Holder{Format: FormatUnknown}
}

// lockscopeHolder accepts a value cut off at [keyreader.HeadSize]: who holds it comes first.
func lockscopeHolder(text string) (Holder, bool) {
	fence, h, ok := lock.ParseValue(text)
	if !ok {
		return Holder{}, false
	}
	return Holder{Format: FormatLockscope, Name: h.Instance, Since: h.Since, Traceparent: h.Traceparent, Fence: fence}, true
}

// tokenOf is the secret by which lockscope tells its attempts apart, on all nodes
// the same, or "" if lockscope did not write the value.
func tokenOf(v *keyreader.Value) string {
	if v.Type != keyreader.String {
		return ""
	}
	if _, _, ok := lock.ParseValue(v.Head); !ok {
		return ""
	}
	return v.Head[:tokenLength]
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
