package keyreader

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

// HeadSize is how much of a string identifies its value, in bytes. describe.lua has the same numbers.
const (
	HeadSize = 256
	// recordSize is how much is read of a string that begins as lockscope's values do, which are smaller: what the
	// holder is, and where its page is, comes late in them.
	recordSize = 2048
)

// hashLimits bound the hashes whose fields are read.
type hashLimits struct{ fields, bytes int }

var (
	// small holds what other libraries write, and a few readers.
	small = hashLimits{16, 4096}
	// crowd holds many readers.
	crowd = hashLimits{100, 1 << 16}
)

// Types that a lock can have, and None for a key that is gone.
const (
	None   = "none"
	String = "string"
	Hash   = "hash"
)

// Never is the TTL of a key that does not expire.
const Never time.Duration = -1

// Unmeasured is the Size of a hash whose fields were not read because the server does not report its size.
const Unmeasured = -1

// Value is the result of one look at a key. It has no more of the key's content than a lock can have.
type Value struct {
	Key    string
	TTL    time.Duration // Never: it does not expire
	Type   string        // of Redis; None: the key is gone
	Size   int64         // bytes of a string, fields of a hash
	Head   string        // beginning of a string
	Record string        // a string that is longer, if it begins as lockscope's values do; else empty
	Fields [][2]string   // name and value, by name; nil if the hash is large or not one
	// LikeReaders reports that a large hash that never expires has a field that is named as a reader of a lock.
	LikeReaders bool
}

// gone is the Value of a missing key.
func gone(key string) Value { return Value{Key: key, TTL: Never, Type: None} }

// Gone reports whether the key is missing, or its slot is on another server.
func (v *Value) Gone() bool { return v.Type == None }

// Identity tells this value from another one of the same key. It stays the same while one holder has the lock: the
// count of a re-entered Redisson lock is not part of it. It is derived from secrets and never shown.
//
// For a string it is STRLEN .. ":" .. sha1hex(GETRANGE 0 255). For the readers of a lock it is "1:" .. sha1hex of the
// token of the oldest; see [Oldest]. For any other readable hash it is HLEN .. ":" .. sha1hex of the field names,
// sorted, joined by NUL. For all else it is the type.
func (v *Value) Identity() string {
	switch {
	case v.Type == String:
		return fingerprint(v.Size, v.Head)
	case v.Type == Hash && v.Fields != nil:
		if oldest := Oldest(v.ReadLeases()); oldest.Token != "" {
			return fingerprint(1, oldest.Token)
		}
		names := make([]string, len(v.Fields))
		for i, f := range v.Fields {
			names[i] = f[0]
		}
		return fingerprint(v.Size, strings.Join(names, "\x00"))
	}
	return v.Type
}

func fingerprint(size int64, text string) string {
	sum := sha1.Sum([]byte(text))
	return strconv.FormatInt(size, 10) + ":" + hex.EncodeToString(sum[:])
}

// parseValue reads a reply of describe.lua.
func parseValue(reply any) (Value, error) {
	parts, ok := reply.([]any)
	if !ok || len(parts) < 4 {
		return Value{}, fmt.Errorf("%w: a description has %d parts", driver.ErrBadReply, len(parts))
	}
	key, ok1 := parts[0].(string)
	pttl, ok2 := parts[1].(int64)
	kind, ok3 := parts[2].(string)
	size, ok4 := parts[3].(int64)
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return Value{}, fmt.Errorf("%w: a description has parts of unexpected types", driver.ErrBadReply)
	}
	v := Value{Key: key, TTL: TTLOf(pttl), Type: kind, Size: size}
	texts, err := stringsOf(parts[4:])
	switch {
	case err != nil:
		return Value{}, err
	case kind == String && len(texts) == 1:
		v.setText(texts[0])
	case kind == Hash && len(texts) == 1:
		v.LikeReaders = true
	case kind == Hash && len(texts)%2 == 0:
		v.setFields(texts)
	}
	return v, nil
}

// setText takes what was read of a string.
func (v *Value) setText(text string) {
	if v.Head = text[:min(len(text), HeadSize)]; len(text) > HeadSize {
		v.Record = text
	}
}

// lockscopeValue is how lockscope's values begin: a token and a counter.
var lockscopeValue = regexp.MustCompile(`^[0-9a-f]{32}:\d+\|`)

// setFields takes the reply of HGETALL.
func (v *Value) setFields(texts []string) {
	for i := 0; i+1 < len(texts); i += 2 {
		v.Fields = append(v.Fields, [2]string{texts[i], texts[i+1]})
	}
	slices.SortFunc(v.Fields, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
}

// TTLOf converts a reply of PTTL.
func TTLOf(pttl int64) time.Duration {
	if pttl < 0 {
		return Never
	}
	const longest = int64(1<<63-1) / int64(time.Millisecond)
	return time.Duration(min(pttl, longest)) * time.Millisecond
}

func stringsOf(parts []any) ([]string, error) {
	texts := make([]string, len(parts))
	for i, p := range parts {
		text, ok := p.(string)
		if !ok {
			return nil, fmt.Errorf("%w: a %T instead of a string", driver.ErrBadReply, p)
		}
		texts[i] = text
	}
	return texts, nil
}
