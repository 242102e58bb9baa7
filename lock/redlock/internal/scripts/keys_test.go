package scripts

import (
	"strconv"
	"strings"
	"testing"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/redlock/hashslot"
)

func TestKeysShareTheLockKeysSlot(t *testing.T) {
	for _, resource := range []string{"a", "order:1001", "ünïcödé", "with space",
		strings.Repeat("x", lock.MaxResourceLength)} {
		key := lock.DefaultPrefix + resource
		k := keysOf(key)
		for _, other := range []string{k.fence, k.next, k.queue, k.tombstone("t")} {
			tag := other[strings.IndexByte(other, '{')+1 : strings.IndexByte(other, '}')]
			if hashslot.Of(tag) != hashslot.Of(key) {
				t.Errorf("%q is in slot %d, the lock %q in %d", other, hashslot.Of(tag), key, hashslot.Of(key))
			}
			if strings.HasPrefix(other, lock.DefaultPrefix) {
				t.Errorf("%q lies below the lock prefix", other)
			}
		}
	}
}

func TestSlotTagsCoverEverySlotWithItsSmallestNumber(t *testing.T) {
	tags := slotTags()
	for slot, tag := range tags {
		if tag == "" || hashslot.Of(tag) != slot {
			t.Fatalf("slot %d has tag %q in slot %d", slot, tag, hashslot.Of(tag))
		}
	}
	if tags[hashslot.Of("0")] != "0" || tags[hashslot.Of("7")] != "7" {
		t.Error("a smaller number was overwritten by a larger one")
	}
}

// TestKeyCacheIsBounded: a service that locks each order once must not keep the keys of all orders.
func TestKeyCacheIsBounded(t *testing.T) {
	c := newKeyCache()
	for i := range 3 * maxKeyCache {
		lock := "lock:" + strconv.Itoa(i)
		if k := c.of(lock); k.lock != lock || c.of(lock) != k {
			t.Fatalf("the keys of %s are %+v", lock, k)
		}
	}
	if len(c.byLock) > maxKeyCache {
		t.Errorf("%d are kept", len(c.byLock))
	}
}
