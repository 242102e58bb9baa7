package discover

import (
	"regexp"

	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
)

var (
	grabbedKey = regexp.MustCompile(`^((?:.*:)?SEMAPHORE:).+:GRABBED$`)
	number     = regexp.MustCompile(`^\d+$`)
)

// nameForms are locks of other libraries whose names show which one.
func nameForms() []form {
	return []form{
		// rueidislock:<n>:<name>, with 24 random bytes. A lock is the majority of its keys 0 to 2.
		// redis/rueidis, rueidislock/lock.go: keyname, random; internal/util: RandomBytes.
		{library: Rueidislock, key: regexp.MustCompile(`^(rueidislock:)\d+:`), value: ofSize(24),
			evidence: "the name begins with rueidislock: and the value is 24 bytes"},
		// php-malkusch-lock:<name>, with 64 hex digits.
		// php-lock/lock, src/Util/LockUtil.php: getKeyPrefix, makeRandomToken; src/Mutex/RedisMutex.php: add.
		{library: PHPLock, key: regexp.MustCompile(`^(php-malkusch-lock:)`), value: like(`^[0-9a-f]{64}$`),
			evidence: "the name begins with php-malkusch-lock: and the value is 64 hex digits"},
		// RedisMutex:<object>, with the time at which the lock ends, and no TTL.
		// kenn/redis-mutex, lib/redis_mutex.rb: try_lock. kenn/redis-classy, lib/redis_classy.rb: redis, the namespace.
		{library: RedisMutexRuby, key: regexp.MustCompile(`^((?:.*:)?RedisMutex:)`), value: like(`^\d{10}(\.\d+)?$`),
			lasting:  true,
			evidence: "the name begins with RedisMutex: and the value is a time"},
		// lock:owner:<name>, with host and process id, and no TTL: the end is in lock:expire:<name>.
		// mlanett/redis-lock, lib/redis-lock.rb: @okey, @oval, do_lock.
		{library: RedisLockRuby, key: regexp.MustCompile(`^(lock:owner:)`), value: like(`^[^:]+:\d+$`),
			lasting:  true,
			evidence: "the name begins with lock:owner: and the value is a host and a process id"},
		// 5 hex digits of the application and the MD5 digest of the name, with 20 characters of URL-safe base64.
		// yiisoft/yii2-redis, src/Mutex.php: calculateKey, acquireLock.
		{library: Yii2, key: regexp.MustCompile(`^([0-9a-f]{5})[0-9a-f]{32}$`), value: like(`^[A-Za-z0-9_-]{20}$`),
			evidence: "the name is 37 hex digits and the value is 20 characters of base64"},
		// redlock:<resource> by default, with a UUID for each lock, in both libraries.
		// samcook/RedLock.net, RedLockNet.SERedis/RedLock.cs (LockId), Configuration/RedLockConnectionProvider.cs
		// (DefaultRedisKeyFormat). brainix/pottery, pottery/redlock.py (_KEY_PREFIX), pottery/base.py (key).
		{library: RedLockNet, key: regexp.MustCompile(`^(redlock:)`), value: isUUID,
			evidence: "the name begins with redlock: and the value is a UUID"},
	}
}

// rubySemaphore: SEMAPHORE:<name>:GRABBED, a hash of the permit, a number, to the time it was taken. It has a TTL only
// if the semaphore does.
// dv/redis-semaphore, lib/redis/semaphore.rb: namespaced_key, lock.
func rubySemaphore(e *entry) (clue, bool) {
	m := grabbedKey.FindStringSubmatch(e.Key)
	if m == nil || e.Type != keyreader.Hash {
		return clue{}, false
	}
	for _, f := range e.Fields {
		if !number.MatchString(f[0]) {
			return clue{}, false
		}
	}
	return clue{library: RedisSemaphoreRuby, pattern: scanner.PrefixPattern(m[1]) + ":GRABBED", confidence: High,
		evidence: "the name is SEMAPHORE, a name and GRABBED, and the fields of the hash are numbers"}, true
}

// nonceHash: a hash whose field nonce has a UUID in 32 hex digits, beside the metadata of the caller.
// riberk/RedlockDotNet, src/RedlockDotNet.Redis/RedisRedlockInstance.cs (SetLua), src/RedlockDotNet/RedlockFactory.cs
// (Nonce).
func nonceHash(e *entry) (clue, bool) {
	if e.Type != keyreader.Hash {
		return clue{}, false
	}
	for _, f := range e.Fields {
		if f[0] == "nonce" && isHex(f[1]) {
			return byName(e, RedlockDotNet, "a hash with a nonce of 32 hex digits", High), likely(e)
		}
	}
	return clue{}, false
}
