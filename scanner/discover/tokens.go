package discover

import (
	"regexp"
	"strings"

	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
)

var (
	uuid1Hex     = regexp.MustCompile(`^[0-9a-f]{12}1[0-9a-f]{3}[89ab][0-9a-f]{15}$`)
	base64Of16   = regexp.MustCompile(`^[A-Za-z0-9+/]{22}==$`)
	base64Of18   = regexp.MustCompile(`^[A-Za-z0-9+/]{24}$`)
	base64URL16  = regexp.MustCompile(`^[A-Za-z0-9_-]{22}`)
	alnum16      = regexp.MustCompile(`^(s:16:")?[A-Za-z0-9]{16}("?;?)$`)
	laravelNames = regexp.MustCompile(`(?i)laravel|[_-]cache[_:-]`)
)

// redLockNet: redlock:<resource> by default, with a UUID for each lock.
// samcook/RedLock.net, RedLockFactory and RedLock.cs: RedisKeyFormat, LockId.
func redLockNet(e *entry) (clue, bool) {
	const prefix = "redlock:"
	return clue{library: RedLockNet, pattern: scanner.PrefixPattern(prefix), confidence: High,
			evidence: "the name begins with redlock: and the value is a UUID"},
		strings.HasPrefix(e.Key, prefix) && e.text() && uuidOnly.MatchString(e.Head)
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

// redsyncToken: base64 of 16 random bytes.
// go-redsync/redsync, mutex.go: genValue.
func redsyncToken(e *entry) (clue, bool) {
	return byName(e, Redsync, "the value is 16 bytes in base64", High), e.text() && base64Of16.MatchString(e.Head)
}

// hexToken: 32 hex digits are a UUID of version 1 in redis-py, random in node-redlock.
// redis/redis-py, redis/lock.py: uuid.uuid1().hex. mike-marcacci/node-redlock, src/index.ts: _random.
func hexToken(e *entry) (clue, bool) {
	if !e.text() || !hexOnly.MatchString(e.Head) {
		return clue{}, false
	}
	if uuid1Hex.MatchString(e.Head) {
		return byName(e, RedisPy, "the value is a version 1 UUID in 32 hex digits", High), true
	}
	return byName(e, NodeRedlock, "the value is 32 random hex digits", Medium), true
}

// uuidToken: a UUID, which does not show which of several libraries wrote it.
// spring-projects/spring-integration, RedisLockRegistry.java: constructLockKey (<registry>:<path>), clientId.
// leandromoreira/redlock-rb, lib/redlock/client.rb: SecureRandom.uuid below the name that the caller gives.
func uuidToken(e *entry) (clue, bool) {
	ok := e.text() && uuidOnly.MatchString(e.Head) && strings.Contains(e.Key, ":")
	return byName(e, UUIDToken, "the value is a UUID, as Spring Integration and redlock-rb write it", Medium), ok
}

// laravelOwner: 16 letters and digits, below the prefixes of the connection and the cache.
// laravel/framework, src/Illuminate/Cache/{Lock,RedisLock}.php: Str::random().
func laravelOwner(e *entry) (clue, bool) {
	if !e.text() || !alnum16.MatchString(e.Head) || saysNothing.MatchString(e.Head) {
		return clue{}, false
	}
	c := byName(e, Laravel, "the value is 16 letters and digits", Low)
	if laravelNames.MatchString(e.Key) {
		c.confidence, c.evidence = High,
			"the value is 16 letters and digits, and the name has the prefix of a Laravel cache"
	} else if c.confidence == Low && !namesLock(e.Key) {
		return clue{}, false // too many things are
	}
	return c, true
}

// redislockToken: base64 (URL, no padding) of 16 random bytes, followed by the metadata of the caller.
// bsm/redislock, redislock.go: randomToken, Obtain.
func redislockToken(e *entry) (clue, bool) {
	if !e.text() || !base64URL16.MatchString(e.Head) || e.TTL == keyreader.Never {
		return clue{}, false
	}
	if e.Size == 22 {
		return byName(e, Redislock, "the value is 16 bytes in base64 without padding", High), true
	}
	return byName(e, Redislock, "the value begins like 16 bytes in base64", Low), namesLock(e.Key)
}
