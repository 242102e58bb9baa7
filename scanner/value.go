package scanner

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Limits of what is read of a value, as describe.lua has them.
const (
	headSize     = 256
	maxFields    = 16
	maxHashBytes = 4096
)

// Redis types.
const (
	kindNone   = "none" // there is no such key
	kindString = "string"
	kindHash   = "hash"
)

// never is the TTL of a key that does not expire.
const never time.Duration = -1

// value is what one look at a key told. Of what the key holds it has no more than
// a lock can be large.
type value struct {
	key    string
	ttl    time.Duration // never: it does not expire
	kind   string        // Redis type; kindNone: the key is gone
	size   int64         // bytes of a string, fields of a hash
	head   string        // beginning of a string
	fields [][2]string   // name and value, by name; nil if the hash is large or not one
}

// identity tells this value from another of the same key. It stays the same while
// one holder has the lock: the count of a Redisson lock that is entered again is
// no part of it. It is derived from secrets and never shown.
//
// Of a string it is STRLEN .. ":" .. sha1hex(GETRANGE 0 255); of a hash that can be
// read it is HLEN .. ":" .. sha1hex of the field names, sorted, joined by NUL; of
// all else it is the type.
func (v *value) identity() string {
	switch {
	case v.kind == kindString:
		return fingerprint(v.size, v.head)
	case v.kind == kindHash && v.fields != nil:
		names := make([]string, len(v.fields))
		for i, f := range v.fields {
			names[i] = f[0]
		}
		return fingerprint(v.size, strings.Join(names, "\x00"))
	}
	return v.kind
}

func fingerprint(size int64, text string) string {
	sum := sha1.Sum([]byte(text))
	return strconv.FormatInt(size, 10) + ":" + hex.EncodeToString(sum[:])
}

// parseValue reads a reply of describe.lua.
func parseValue(reply any) (value, error) {
	parts, ok := reply.([]any)
	if !ok || len(parts) < 4 {
		return value{}, fmt.Errorf("%w: a description has %d parts", ErrBadReply, len(parts))
	}
	key, ok1 := parts[0].(string)
	pttl, ok2 := parts[1].(int64)
	kind, ok3 := parts[2].(string)
	size, ok4 := parts[3].(int64)
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return value{}, fmt.Errorf("%w: a description has parts of other types", ErrBadReply)
	}
	v := value{key: key, ttl: ttlOf(pttl), kind: kind, size: size}
	texts, err := stringsOf(parts[4:])
	switch {
	case err != nil:
		return value{}, err
	case kind == kindString && len(texts) == 1:
		v.head = texts[0]
	case kind == kindHash && len(texts)%2 == 0:
		v.setFields(texts)
	}
	return v, nil
}

// setFields takes what HGETALL replies.
func (v *value) setFields(texts []string) {
	for i := 0; i+1 < len(texts); i += 2 {
		v.fields = append(v.fields, [2]string{texts[i], texts[i+1]})
	}
	slices.SortFunc(v.fields, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
}

func ttlOf(pttl int64) time.Duration {
	if pttl < 0 {
		return never
	}
	const longest = int64(1<<63-1) / int64(time.Millisecond)
	return time.Duration(min(pttl, longest)) * time.Millisecond
}

func stringsOf(parts []any) ([]string, error) {
	texts := make([]string, len(parts))
	for i, p := range parts {
		text, ok := p.(string)
		if !ok {
			return nil, fmt.Errorf("%w: a %T instead of a text", ErrBadReply, p)
		}
		texts[i] = text
	}
	return texts, nil
}
