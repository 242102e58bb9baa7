package redlock

import (
	"strconv"
	"strings"
	"sync"
)

// keys are the names of what a lock needs beside its own key. They lie outside the lock
// prefix, so that a scan for locks meets nothing else, and hash to the lock key's Redis
// Cluster slot.
type keys struct {
	lock  string
	fence string // counter, shared by the locks of a slot
	next  string // whom the lock is kept for during a hand-over
	queue string // waiters, in order of arrival

	args struct{ lock, fence, next, queue any } // the same, as arguments of commands
}

func keysOf(lock string) *keys {
	k := &keys{
		lock:  lock,
		fence: "lockscope:fence:{" + slotTags()[slotOf(lock)] + "}",
		next:  "lockscope:next:{" + lock + "}",
		queue: QueueKey(lock),
	}
	k.args.lock, k.args.fence, k.args.next, k.args.queue = k.lock, k.fence, k.next, k.queue
	return k
}

// tombstone keeps a late acquire of token from taking effect.
func (k *keys) tombstone(token string) string { return "lockscope:tomb:{" + k.lock + "}:" + token }

const queuePrefix = "lockscope:queue:{"

// QueueKey is the key of a lock's queue of waiters; of a pattern that matches keys of
// locks, it is one that matches their queues.
func QueueKey(lockKey string) string { return queuePrefix + lockKey + "}" }

// LockOfQueue is the key of the lock whose queue has this key; ok is false for any other key.
func LockOfQueue(key string) (lockKey string, ok bool) {
	lockKey, ok = strings.CutPrefix(key, queuePrefix)
	if !ok {
		return "", false
	}
	return strings.CutSuffix(lockKey, "}")
}

// entry is what a waiter says of itself while it queues.
func (k *keys) entry(waiter string) string { return "lockscope:waiter:{" + k.lock + "}:" + waiter }

// maxKeyCache bounds how many locks' keys are kept; making them again costs less than a
// microsecond.
const maxKeyCache = 1024

// keyCache makes the keys of a lock once for all nodes and commands.
type keyCache struct {
	mu     sync.RWMutex
	byLock map[string]*keys
}

func newKeyCache() *keyCache { return &keyCache{byLock: make(map[string]*keys)} }

func (c *keyCache) of(lock string) *keys {
	c.mu.RLock()
	k := c.byLock[lock]
	c.mu.RUnlock()
	if k != nil {
		return k
	}
	k = keysOf(lock)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.byLock) >= maxKeyCache {
		clear(c.byLock)
	}
	c.byLock[lock] = k
	return k
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
	table := crcTable()
	var crc uint16
	for i := range len(key) {
		crc = crc<<8 ^ table[byte(crc>>8)^key[i]]
	}
	return crc % slotCount
}

// crcTable is the CRC of each byte: keys are hashed with every command.
var crcTable = sync.OnceValue(func() *[256]uint16 {
	table := new([256]uint16)
	for i := range table {
		crc := uint16(i) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
		table[i] = crc
	}
	return table
})
