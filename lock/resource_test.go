package lock

import (
	"errors"
	"strings"
	"testing"
)

func TestSlotOfAgreesWithTheClusterSpecification(t *testing.T) {
	// The specification gives CRC16 of 123456789 as 0x31C3; the others are what
	// CLUSTER KEYSLOT of redis-server 7.0.15 answers.
	for key, want := range map[string]uint16{"123456789": 0x31C3 % slotCount, "foo": 12182, "somekey": 11058, "lock:order:1001": 3766} {
		if got := slotOf(key); got != want {
			t.Errorf("slotOf(%q) = %d, want %d", key, got, want)
		}
	}
}

func TestKeysShareTheLockKeysSlot(t *testing.T) {
	for _, resource := range []string{"a", "order:1001", "ünïcödé", "with space", strings.Repeat("x", MaxResourceLength)} {
		keys := keysOf(DefaultPrefix, resource)
		for _, key := range []string{keys.Fence, keys.Next, keys.Queue, keys.Tombstone("t")} {
			tag := key[strings.IndexByte(key, '{')+1 : strings.IndexByte(key, '}')]
			if slotOf(tag) != slotOf(keys.Lock) {
				t.Errorf("%q is in slot %d, the lock %q in %d", key, slotOf(tag), keys.Lock, slotOf(keys.Lock))
			}
			if strings.HasPrefix(key, DefaultPrefix) {
				t.Errorf("%q lies below the lock prefix", key)
			}
		}
	}
}

func TestSlotTagsCoverEverySlotWithItsSmallestNumber(t *testing.T) {
	tags := slotTags()
	for slot, tag := range tags {
		if tag == "" || int(slotOf(tag)) != slot {
			t.Fatalf("slot %d has tag %q in slot %d", slot, tag, slotOf(tag))
		}
	}
	if tags[slotOf("0")] != "0" || tags[slotOf("7")] != "7" {
		t.Error("a smaller number was overwritten by a larger one")
	}
}

func FuzzValidateName(f *testing.F) {
	for _, s := range []string{"", "a", "order:1001", "a{b", "b}", "x\x00", "\x7f", "ünï", strings.Repeat("y", MaxResourceLength+1)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		err := validateName(name)
		bad := name == "" || len(name) > MaxResourceLength || strings.ContainsAny(name, "{}\x7f") ||
			strings.ContainsFunc(name, func(r rune) bool { return r < 0x20 })
		if bad != (err != nil) {
			t.Fatalf("validateName(%q) = %v", name, err)
		}
		if err != nil {
			if !errors.Is(err, ErrInvalidResource) {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		if keys := keysOf(DefaultPrefix, name); keys.Lock != DefaultPrefix+name {
			t.Fatalf("lock key of %q is %q", name, keys.Lock)
		}
	})
}
