package holders

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/redlock/stored"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
)

// maxNameLength of a holder, in bytes.
const maxNameLength = 128

// TokenLength of lockscope's owner tokens, with which its values begin.
const TokenLength = 32

// Holder returns what the value says about the holder.
func Holder(v *keyreader.Value) inspect.Hold {
	switch v.Type {
	case keyreader.String:
		if fence, h, ok := stored.ParseValue(cmp.Or(v.Record, v.Head)); ok {
			return inspect.Hold{Holder: h, Format: inspect.FormatLockscope, Fence: fence}
		}
		if h, ok := shedLockHolder(v.Head); ok && v.Size <= keyreader.HeadSize {
			return h
		}
	case keyreader.Hash:
		if h, ok := redissonHolder(v.Fields); ok {
			return h
		}
		if h, ok := readersHolder(v); ok {
			return h
		}
		if v.LikeReaders {
			return inspect.Hold{Holder: lock.Holder{Kind: lock.KindRead}, Format: inspect.FormatLockscope}
		}
	}
	// The values of redsync, redislock and SETNX scripts are their owner tokens, or
	// may be: nothing of them is shown.
	return inspect.Hold{Format: inspect.FormatUnknown}
}

// Token is the secret by which lockscope identifies an attempt, the same on all nodes. It is "" if lockscope did not
// write the value, and for several readers: each has its own.
func Token(v *keyreader.Value) string {
	if readers := v.ReadLeases(); len(readers) == 1 {
		return readers[0].Token
	}
	token, _ := Grant(v)
	return token
}

// Grant returns the token, and the node's counter at the grant.
func Grant(v *keyreader.Value) (token string, fence uint64) {
	if v.Type != keyreader.String {
		return "", 0
	}
	fence, _, ok := stored.ParseValue(v.Head)
	if !ok {
		return "", 0
	}
	return v.Head[:TokenLength], fence
}

// uuidText matches the identifiers of ShedLock and Redisson.
const uuidText = `[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`

var (
	// shedLockRest is what follows the time: host, and the secret of newer versions.
	shedLockRest = regexp.MustCompile(`^([^:]*)(:` + uuidText + `)?$`)
	// redissonField names client and thread; write locks have a suffix.
	redissonField = regexp.MustCompile(`^(.+):(\d{1,20})(:write)?$`)
	uuidOnly      = regexp.MustCompile(`^` + uuidText + `$`)
)

// shedLockHolder reads ADDED:time@host:uuid. It drops the uuid, which authorizes the release.
func shedLockHolder(text string) (inspect.Hold, bool) {
	rest, found := strings.CutPrefix(text, "ADDED:")
	at, rest, split := strings.Cut(rest, "@")
	if !found || !split {
		return inspect.Hold{}, false
	}
	since, err := time.Parse(time.RFC3339Nano, at)
	if err != nil {
		return inspect.Hold{}, false
	}
	h := inspect.Hold{Holder: lock.Holder{Since: since}, Format: inspect.FormatShedLock}
	if m := shedLockRest.FindStringSubmatch(rest); m != nil {
		h.Instance = cleanName(m[1])
	}
	return h, true
}

// redissonHolder reads the fields of a Redisson lock: client:thread -> count, and "mode" in a read-write lock. The
// client's id and the thread together authorize the unlock. So only 8 of the id's 36 characters are shown, enough to
// tell holders apart and too few to guess the other 90 bits.
func redissonHolder(fields [][2]string) (inspect.Hold, bool) {
	h := inspect.Hold{Format: inspect.FormatRedisson}
	var names []string
	for _, f := range fields {
		if f[0] == "mode" && (f[1] == "read" || f[1] == "write") {
			continue
		}
		m := redissonField.FindStringSubmatch(f[0])
		count, err := strconv.ParseInt(f[1], 10, 32)
		if m == nil || err != nil || count < 0 {
			return inspect.Hold{}, false
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

// Foreign reports whether a key has no known form of a lock: locks are strings, small hashes as Redisson writes them,
// or the readers of a lock. A hash that is too large to be read and expires may be many readers.
func Foreign(v *keyreader.Value) bool {
	switch v.Type {
	case keyreader.String:
		return false
	case keyreader.Hash:
		if v.Size == keyreader.Unmeasured {
			return false
		}
		if v.Fields == nil && (v.TTL != keyreader.Never || v.LikeReaders) {
			return false
		}
		_, ok := redissonHolder(v.Fields)
		return !ok && !Readers(v)
	}
	return true
}

// cleanName keeps a name short and on one line, because anybody can write a value.
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

var (
	// otherToken matches the values of libraries that lock on a quorum of independent nodes. Each is new for one lease
	// and the same on all nodes. discover/libraries.txt names the files of the libraries that show the forms.
	otherToken = regexp.MustCompile(`^(` +
		`[A-Za-z0-9+/]{21}[AQgw]==` + // redsync
		`|[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{80}` + // node-redlock, redlock-universal; redlock4j; redlock for Elixir
		`|[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}` + // redlock-rb, aioredlock, RedLock.net
		`|.{1,128}_\d{1,10}_[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}` + // DistributedLock.Redis
		`)$`)
	// ofRedisPy matches UUIDs of version 1 from 2010 to 2037: redis-py locks on one node. One of 8192 random tokens of
	// node-redlock has that form.
	ofRedisPy = regexp.MustCompile(`^[0-9a-f]{12}11[ef][0-9a-f][89ab][0-9a-f]{15}$`)
)

// OtherToken is the value of another library's lock if it has the form of one lease on a quorum of nodes, and else "".
func OtherToken(v *keyreader.Value) string {
	if v.Type != keyreader.String || v.Size > keyreader.HeadSize || !otherToken.MatchString(v.Head) ||
		ofRedisPy.MatchString(v.Head) {
		return ""
	}
	return v.Head
}
