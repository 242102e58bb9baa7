package discover

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/lockscope/lockscope/scanner/internal/keyreader"
)

// The last of 22 characters of base64 has 2 bits of the 16 bytes, so it is one of four.
var (
	uuid1Hex     = regexp.MustCompile(`^[0-9a-f]{12}1[0-9a-f]{3}[89ab][0-9a-f]{15}$`)
	base64Of16   = regexp.MustCompile(`^[A-Za-z0-9+/]{21}[AQgw]==$`)
	base64Of18   = regexp.MustCompile(`^[A-Za-z0-9+/]{24}$`)
	base64URL16  = regexp.MustCompile(`^[A-Za-z0-9_-]{21}[AQgw]`)
	alnum16      = regexp.MustCompile(`^(s:16:")?[A-Za-z0-9]{16}("?;?)$`)
	alnum22      = regexp.MustCompile(`^[A-Za-z0-9]{22}$`)
	hex40        = regexp.MustCompile(`^[0-9a-f]{40}$`)
	phpUniqueID  = regexp.MustCompile(`^[0-9a-f]{13}$`)
	laravelNames = regexp.MustCompile(`(?i)laravel|[_-]cache[_:-]`)
	anyName      = regexp.MustCompile(``)
)

// valueForms are values that show the library whatever the name is.
func valueForms() []form {
	return []form{
		// <machine>_<process id>_<UUID in hex>; a writer that waits for readers adds _WRITERWAITING.
		// madelson/DistributedLock, src/DistributedLock.Redis/RedLock/RedLockHelper.cs: CreateLockId, LockIdPrefix;
		// Primitives/RedisMutexPrimitive.cs and RedisReaderWriterLockPrimitives.cs.
		{library: DistributedLockNet, key: anyName, common: true,
			value:    like(`^.+_\d+_[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}(_WRITERWAITING)?$`),
			evidence: "the value is a machine, a process id and a UUID"},
		// lock_token:<uuid>, below {<name>}.
		// jefferyjob/go-redislock, lock.go: New; lua/reentrantLock.lua.
		{library: GoRedislock, key: anyName, value: like(`^lock_token:` + uuid + `$`),
			evidence: "the value is lock_token: and a UUID"},
		// <process id>:<microtime of PHP>:<random number>.
		// cheprasov/php-redis-lock, src/RedisLock/RedisLock.php: createToken.
		{library: PHPRedisLock, key: anyName, value: like(`^\d+:0\.\d{8} \d{10}:\d{1,4}$`),
			evidence: "the value is a process id, a time as PHP writes it and a number"},
		// 80 hex digits. lyokato/redlock, lib/redlock/util.ex: random_value.
		{library: RedlockElixir, key: anyName, value: like(`^[0-9a-f]{80}$`), evidence: "the value is 80 hex digits",
			common: true},
	}
}

// pythonRedisLock: lock:<name>, with base64 of 18 random bytes.
// ionelmc/python-redis-lock, src/redis_lock/__init__.py: _id, _name.
func pythonRedisLock(e *entry) (clue, bool) {
	if !strings.HasPrefix(e.Key, "lock:") || !e.text() || !base64Of18.MatchString(e.Head) {
		return clue{}, false
	}
	return clue{library: PythonRedisLock, confidence: Medium,
		evidence: "the name begins with lock: and the value is 18 bytes in base64"}, true
}

// redsyncToken: base64 of 16 random bytes. amphp/redis has the same below lock:.
// go-redsync/redsync, mutex.go: genValue. amphp/redis, src/Sync/RedisMutex.php: lock.
func redsyncToken(e *entry) (clue, bool) {
	return byName(e, Redsync, "the value is 16 bytes in base64", Medium),
		e.text() && base64Of16.MatchString(e.Head) && likely(e)
}

// hexToken: 32 hex digits are a UUID of version 1 in redis-py, random in node-redlock and redlock-universal. Only
// redis-py writes them without a TTL.
// redis/redis-py, redis/lock.py: uuid.uuid1().hex. mike-marcacci/node-redlock, src/index.ts: _random.
// alexpota/redlock-universal, src/utils/crypto.ts: generateLockValue.
func hexToken(e *entry) (clue, bool) {
	if !e.text() || !isHex(e.Head) {
		return clue{}, false
	}
	if uuid1Hex.MatchString(e.Head) {
		return byName(e, RedisPy, "the value is a version 1 UUID in 32 hex digits", High), true
	}
	return byName(e, NodeRedlock, "the value is 32 random hex digits", Medium), likely(e)
}

// uuidToken: a UUID, which does not show which of several libraries wrote it.
// spring-projects/spring-integration, RedisLockRegistry.java: constructLockKey (<registry>:<path>), clientId.
// leandromoreira/redlock-rb, lib/redlock/client.rb: SecureRandom.uuid below the name that the caller gives.
// joanvila/aioredlock, aioredlock/algorithm.py: lock. microfleet/ioredis-lock, src/lock.ts: _id.
// danielstjules/redislock, lib/lock.js: _id. swarthy/redis-semaphore, src/RedisMutex.ts (mutex:<key>), src/Lock.ts.
func uuidToken(e *entry) (clue, bool) {
	ok := e.text() && isUUID(e.Head) && (strings.Contains(e.Key, ":") || namesLock(e.Key)) && likely(e)
	return byName(e, UUIDToken, "the value is a UUID, as Spring Integration and redlock-rb write it", Medium), ok
}

// laravelOwner: 16 letters and digits, below the prefixes of the connection and the cache.
// laravel/framework, src/Illuminate/Cache/{Lock,RedisLock}.php: Str::random(); Bus/UniqueLock.php: getKey.
func laravelOwner(e *entry) (clue, bool) {
	return clue{library: Laravel, confidence: High,
			evidence: "the value is 16 letters and digits, and the name has the prefix of a Laravel cache"},
		isAlnum16(e) && laravelNames.MatchString(e.Key)
}

// alphanumericToken: 16 letters and digits, which do not show which of several libraries wrote them.
// zeromicro/go-zero, core/stores/redis/redislock.go: NewRedisLock; core/stringx/random.go: Randn. Laravel's have the
// same form where the prefixes are changed.
func alphanumericToken(e *entry) (clue, bool) {
	return byName(e, AlphanumericToken, "the value is 16 letters and digits, as go-zero and Laravel write it", Medium),
		isAlnum16(e) && mixed(e.Head) && namesLock(e.Key)
}

func isAlnum16(e *entry) bool {
	return e.text() && alnum16.MatchString(e.Head) && !saysNothing.MatchString(e.Head)
}

// mixed reports whether a text has small letters and capitals, which 16 random ones have and words seldom.
func mixed(text string) bool { return strings.ToLower(text) != text && strings.ToUpper(text) != text }

// redislockToken: base64 (URL, no padding) of 16 random bytes, followed by the metadata of the caller.
// bsm/redislock, redislock.go: randomToken, ObtainMulti. Where the last character is none of base64, 22 letters and
// digits are redlock-py's. SPSCommerce/redlock-py, redlock/__init__.py: get_unique_id.
func redislockToken(e *entry) (clue, bool) {
	switch {
	case !e.text() || !likely(e):
	case e.Size == 22 && base64URL16.MatchString(e.Head):
		return byName(e, Redislock, "the value is 16 bytes in base64 without padding", High), true
	case e.Size == 22 && alnum22.MatchString(e.Head) && mixed(e.Head):
		return byName(e, RedlockPy, "the value is 22 letters and digits", Medium), namesLock(e.Key)
	case e.TTL != keyreader.Never && base64URL16.MatchString(e.Head):
		return byName(e, Redislock, "the value begins like 16 bytes in base64", Low), namesLock(e.Key)
	}
	return clue{}, false
}

// twentyBytes: random values of other lengths. Only the name shows that they are locks. They are 20 bytes, the same in
// hex, and the 13 digits of PHP's uniqid.
// hexcowboy/rslock, src/lock.rs: get_unique_lock_id. tishun/redlock4j, Redlock.java: generateLockValue.
// ronnylt/redlock-php, src/RedLock.php: lock.
func twentyBytes(e *entry) (clue, bool) {
	c := byName(e, "", "", Medium)
	switch {
	case !e.text() || !namesLock(e.Key):
		return clue{}, false
	case hex40.MatchString(e.Head):
		c.library, c.evidence = Redlock4j, "the value is 40 hex digits"+c.evidence
	case e.Size == 20 && !utf8.ValidString(e.Head):
		c.library, c.evidence = RSLock, "the value is 20 bytes that are no text"+c.evidence
	case phpUniqueID.MatchString(e.Head) && strings.Trim(e.Head, "0123456789") != "":
		c.library, c.evidence = RedlockPHP, "the value is 13 hex digits"+c.evidence
	}
	return c, c.library != ""
}
