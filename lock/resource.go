package lock

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// MaxResourceLength is the longest resource name in bytes.
const MaxResourceLength = 512

// validateName refuses what could not be told apart from key syntax: braces
// choose a cluster slot, control characters hide in logs and terminals.
func validateName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%w: it is empty", ErrInvalidResource)
	case len(name) > MaxResourceLength:
		return fmt.Errorf("%w: %d bytes, at most %d are allowed", ErrInvalidResource, len(name), MaxResourceLength)
	}
	for i := range len(name) {
		if c := name[i]; c < 0x20 || c == 0x7f || c == '{' || c == '}' {
			return fmt.Errorf("%w: byte %q at position %d; control characters and braces are not allowed",
				ErrInvalidResource, c, i)
		}
	}
	return nil
}

// Keys are the names under which one resource lives on a node. All of them hash
// to the same Redis Cluster slot, and only Lock lies below the lock prefix, so
// that a scan for locks meets nothing else.
type Keys struct {
	Lock  string // the lock itself
	Fence string // fence counter, shared by the resources of a slot
	Next  string // whom the lock is kept for during a hand-off
	Queue string // waiters, in order of arrival
}

// keysOf expects a valid prefix and resource.
func keysOf(prefix, resource string) Keys {
	lock := prefix + resource
	return Keys{
		Lock:  lock,
		Fence: "lockscope:fence:{" + slotTags()[slotOf(lock)] + "}",
		Next:  "lockscope:next:{" + lock + "}",
		Queue: "lockscope:queue:{" + lock + "}",
	}
}

// Tombstone is the key that keeps a late acquire of token from taking effect.
func (k Keys) Tombstone(token string) string {
	return "lockscope:tomb:{" + k.Lock + "}:" + token
}

const slotCount = 16384

// slotTags returns for each slot the smallest decimal number that hashes to it.
var slotTags = sync.OnceValue(func() *[slotCount]string {
	tags := new([slotCount]string)
	for n, missing := 0, slotCount; missing > 0; n++ {
		tag := strconv.Itoa(n)
		if slot := slotOf(tag); tags[slot] == "" {
			tags[slot] = tag
			missing--
		}
	}
	return tags
})

// slotOf is the Redis Cluster slot of a key without a hash tag: CRC16 (XMODEM)
// modulo 16384, as in the Redis Cluster specification.
func slotOf(key string) uint16 {
	var crc uint16
	for i := range len(key) {
		crc ^= uint16(key[i]) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
	}
	return crc % slotCount
}

// safeText keeps a text free of the separators of a lock value and of control
// characters, and at most limit bytes long.
func safeText(s string, limit int) string {
	s = strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f || r == '|' {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(s, "_"))
	for len(s) > limit {
		s = s[:limit]
		s = strings.ToValidUTF8(s, "")
	}
	return s
}
