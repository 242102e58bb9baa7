package scripts

import (
	"strconv"
	"strings"
	"sync"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/hashslot"
)

// keys are the names of a lock's keys. All but the lock's own are outside the lock prefix, so that a scan for
// locks finds only locks. All hash to the same Redis Cluster slot.
type keys struct {
	lock  string
	fence string // counter, shared by the locks of a slot
	next  string // whom the lock is kept for during a hand-over
	queue string // waiters, in order of arrival

	args struct {
		lock, fence, next, queue any // the same, as arguments of commands
		none                     any // is never there: in place of the tombstone of a release that leaves none
	}
}

func keysOf(lock string) *keys {
	k := &keys{
		lock:  lock,
		fence: "lockscope:fence:{" + slotTags()[hashslot.Of(lock)] + "}",
		next:  "lockscope:next:{" + lock + "}",
		queue: QueueKey(lock),
	}
	k.args.lock, k.args.fence, k.args.next, k.args.queue = k.lock, k.fence, k.next, k.queue
	k.args.none = k.tombstoneOf("")
	return k
}

// tombstone keeps a late acquire of token from taking effect. Its name does not reveal the token: who revokes a lease
// marks its tombstone also on servers that do not have the lock.
func (k *keys) tombstone(token string) string { return k.tombstoneOf(driver.GrantOf(token)) }

func (k *keys) tombstoneOf(grant string) string { return "lockscope:tomb:{" + k.lock + "}:" + grant }

const queuePrefix = "lockscope:queue:{"

// QueueKey returns the key of a lock's queue of waiters. For a pattern of lock keys, it returns a pattern of
// their queues.
func QueueKey(lockKey string) string { return queuePrefix + lockKey + "}" }

// LockOfQueue returns the key of the lock whose queue has this key; ok is false for any other key.
func LockOfQueue(key string) (lockKey string, ok bool) {
	lockKey, ok = strings.CutPrefix(key, queuePrefix)
	if !ok {
		return "", false
	}
	return strings.CutSuffix(lockKey, "}")
}

// entry is the key of a waiter's record.
func (k *keys) entry(waiter string) string { return EntryKey(k.lock, waiter) }

// EntryKey returns the key of the record that a waiter for a lock keeps while it queues.
func EntryKey(lockKey, waiter string) string { return "lockscope:waiter:{" + lockKey + "}:" + waiter }

// WakeChannel is the channel on which releases name a waiter.
func WakeChannel(waiterID string) string { return "lockscope:wake:" + waiterID }

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

// slotTags returns for each slot the smallest decimal number that hashes to it.
var slotTags = sync.OnceValue(func() *[hashslot.Count]string {
	tags := new([hashslot.Count]string)
	for n, missing := 0, hashslot.Count; missing > 0; n++ {
		tag := strconv.Itoa(n)
		if slot := hashslot.Of(tag); tags[slot] == "" {
			tags[slot] = tag
			missing--
		}
	}
	return tags
})
