package discover

import (
	"regexp"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
)

// clue is why a key is taken for a library's lock.
type clue struct {
	library    Library
	pattern    string // empty: it is made of the names of the keys
	confidence Confidence
	evidence   string
	since      time.Time // when the lock was taken, if the value tells; else zero
}

// entry is a key with what surrounds it.
type entry struct {
	*keyreader.Value
	fair    bool // there is a queue of waiters for it: see companions
	permits bool // there is a sorted set of its permits
}

func (e *entry) text() bool { return e.Type == keyreader.String && e.Size <= keyreader.HeadSize }

// recogniser detects one form. The first match wins, so unambiguous forms come first.
type recogniser func(e *entry) (clue, bool)

func recognisers() []recogniser {
	return []recogniser{
		lockscopeValue, shedLockValue, redissonHash, redissonPermits, hangfireLock, bullLock, sidekiqLocked,
		asynqUnique, celerySingleton, redBeat,
		pythonRedisLock, redLockNet, redsyncToken, hexToken, uuidToken, laravelOwner, redislockToken, constant,
	}
}

func recognise(e *entry) (clue, bool) {
	for _, r := range recognisers() {
		if c, ok := r(e); ok && (c.confidence > Low || !namesOther(e.Key)) {
			return c, true
		}
	}
	return clue{}, false
}

const uuid = `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`

var (
	uuidOnly     = regexp.MustCompile(`^` + uuid + `$`)
	bullToken    = regexp.MustCompile(`^` + uuid + `(:\d+)?$`)
	bullKey      = regexp.MustCompile(`^(.+:[^:]+):[^:]+:lock$`)
	sidekiqKey   = regexp.MustCompile(`^(.*):[0-9a-f]{32,64}(:RUN)?:LOCKED$`)
	sidekiqJob   = regexp.MustCompile(`^[0-9a-f]{24}$`)
	asynqKey     = regexp.MustCompile(`^asynq:\{[^}]*\}:unique:.+:([0-9a-f]{32})?$`)
	md5Suffix    = regexp.MustCompile(`^(.*[_:-])[0-9a-f]{32}$`)
	shedLock     = regexp.MustCompile(`^ADDED:(\d{4}-\d{2}-\d{2}T[0-9:.]+Z)@`)
	shedLockKey  = regexp.MustCompile(`^(job-lock:[^:]+:)`)
	redissonID   = regexp.MustCompile(`^.+:\d{1,20}(:write)?$`)
	hexOnly      = regexp.MustCompile(`^[0-9a-f]{32}$`)
	uuid1Hex     = regexp.MustCompile(`^[0-9a-f]{12}1[0-9a-f]{3}[89ab][0-9a-f]{15}$`)
	base64Of16   = regexp.MustCompile(`^[A-Za-z0-9+/]{22}==$`)
	base64Of18   = regexp.MustCompile(`^[A-Za-z0-9+/]{24}$`)
	base64URL16  = regexp.MustCompile(`^[A-Za-z0-9_-]{22}`)
	alnum16      = regexp.MustCompile(`^(s:16:")?[A-Za-z0-9]{16}("?;?)$`)
	saysNothing  = regexp.MustCompile(`^(|\d{1,19}(\.\d{1,9})?|(?i:true|yes|ok|on|lock|locked|taken|x|null))$`)
	laravelNames = regexp.MustCompile(`(?i)laravel|[_-]cache[_:-]`)
)

// lockscopeValue: token:counter|holder|..., as package redlock writes it.
func lockscopeValue(e *entry) (clue, bool) {
	if e.Type != keyreader.String {
		return clue{}, false
	}
	_, _, ok := redlock.ParseValue(e.Head)
	return clue{library: Lockscope, confidence: High, evidence: "the value has lockscope's token, counter and holder"},
		ok
}

// shedLockValue: "ADDED:%s@%s" of time and host, keys "job-lock:<environment>:<name>" by default. Newer versions add
// :<uuid>. lukas-krecan/ShedLock, providers/redis/.../RedisLockProvider.java: buildValue, buildKey, KEY_PREFIX.
func shedLockValue(e *entry) (clue, bool) {
	value := shedLock.FindStringSubmatch(e.Head)
	if !e.text() || value == nil {
		return clue{}, false
	}
	c := clue{library: ShedLock, confidence: High, evidence: "the value is ADDED, a time and a host"}
	c.since, _ = time.Parse(time.RFC3339Nano, value[1]) // zero if it is none
	if m := shedLockKey.FindStringSubmatch(e.Key); m != nil {
		c.pattern = scanner.PrefixPattern(m[1])
	}
	return c, true
}

// redissonHash: a hash of <uuid>:<thread> to the number of entries; "mode" read or write for a read-write lock, whose
// write locks end in :write; a fair lock has redisson_lock_queue:{name} beside it while somebody waits.
// redisson/redisson, org/redisson/{RedissonLock,RedissonReadLock,RedissonWriteLock,RedissonFairLock}.java.
func redissonHash(e *entry) (clue, bool) {
	if e.Type != keyreader.Hash || len(e.Fields) == 0 {
		return clue{}, false
	}
	mode := false
	for _, f := range e.Fields {
		if f[0] == "mode" && (f[1] == "read" || f[1] == "write") {
			mode = true
			continue
		}
		if !redissonID.MatchString(f[0]) || !saysNothing.MatchString(f[1]) {
			return clue{}, false
		}
	}
	switch {
	case mode:
		return clue{library: RedissonRW, confidence: High,
			evidence: "a hash from client and thread to a count, with a mode field"}, true
	case e.fair:
		return clue{library: RedissonFair, confidence: High,
			evidence: "a hash from client and thread to a count, with a redisson_lock_queue beside it"}, true
	}
	return clue{library: Redisson, confidence: High, evidence: "a hash from client and thread to a count"}, true
}

// redissonPermits: a number, and, of semaphores whose permits expire, a sorted set {name}:timeout of the permits that
// are out. A plain semaphore is the number alone, which anything may be.
// redisson/redisson, org/redisson/{RedissonSemaphore,RedissonPermitExpirableSemaphore}.java: suffixName(name,
// "timeout").
func redissonPermits(e *entry) (clue, bool) {
	c := clue{library: RedissonSemaphore}
	if !e.text() || e.Head == "" || strings.Trim(e.Head, "0123456789") != "" {
		return c, false
	}
	switch {
	case e.permits:
		c.confidence, c.evidence = High, "a number, with its permits in the sorted set {name}:timeout"
	case e.TTL == keyreader.Never && strings.Contains(strings.ToLower(e.Key), "semaphore"):
		c.confidence, c.evidence = Low, "a number without a TTL, and the name contains semaphore"
	}
	return c, c.confidence > 0
}

// bullLock: <prefix>:<queue>:<job>:lock, with the token <uuid>:<n> of the worker; Bull has <uuid> alone.
// taskforcesh/bullmq, src/commands/includes/prepareJobForProcessing.lua (lockKey) and src/classes/worker.ts (token).
func bullLock(e *entry) (clue, bool) {
	m := bullKey.FindStringSubmatch(e.Key)
	if m == nil || !e.text() || !bullToken.MatchString(e.Head) {
		return clue{}, false
	}
	pattern := scanner.PrefixPattern(m[1]+":") + ":lock"
	return clue{library: BullMQ, pattern: pattern, confidence: High,
		evidence: "the name ends in :lock and the value is a worker's UUID"}, true
}

// sidekiqLocked: <prefix>:<digest>:LOCKED, a hash of job id to time; the prefix is uniquejobs by default.
// mhenrixon/sidekiq-unique-jobs, lib/sidekiq_unique_jobs/{key,lock_digest}.rb and lua/lock.lua (HSET locked, job_id,
// current_time).
func sidekiqLocked(e *entry) (clue, bool) {
	m := sidekiqKey.FindStringSubmatch(e.Key)
	if m == nil || e.Type != keyreader.Hash {
		return clue{}, false
	}
	for _, f := range e.Fields {
		if !sidekiqJob.MatchString(f[0]) {
			return clue{}, false
		}
	}
	pattern := scanner.PrefixPattern(m[1]+":") + ":LOCKED"
	return clue{library: SidekiqUnique, pattern: pattern, confidence: High,
		evidence: "the name ends in a digest and LOCKED, and the fields of the hash are job ids"}, true
}

// asynqUnique: asynq:{<queue>}:unique:<type>:<md5 of the payload>, with the id of the task, a UUID unless the caller
// gives one; it stays until the task is done or its unique time is over.
// hibiken/asynq, internal/base/base.go: UniqueKey, QueueKeyPrefix.
func asynqUnique(e *entry) (clue, bool) {
	return clue{library: Asynq, pattern: "asynq:{*}:unique:*", confidence: High,
		evidence: "the name is that of a unique task in a queue of asynq"}, e.text() && asynqKey.MatchString(e.Key)
}

// hangfireLock: <prefix><resource>, the prefix {hangfire}: by default, with the UUID of the process.
// marcoCasamento/Hangfire.Redis.StackExchange, RedisLock.cs: OwnerId; RedisStorage.cs: GetRedisKey.
func hangfireLock(e *entry) (clue, bool) {
	for _, prefix := range []string{"{hangfire}:", "hangfire:"} {
		if strings.HasPrefix(strings.ToLower(e.Key), prefix) && e.text() && uuidOnly.MatchString(e.Head) {
			return clue{library: Hangfire, pattern: scanner.PrefixPattern(e.Key[:len(prefix)]), confidence: High,
				evidence: "the name begins as Hangfire's do, and the value is the UUID of a process"}, true
		}
	}
	return clue{}, false
}

// redLockNet: redlock:<resource> by default, with a UUID for each lock.
// samcook/RedLock.net, RedLockFactory and RedLock.cs: RedisKeyFormat, LockId.
func redLockNet(e *entry) (clue, bool) {
	const prefix = "redlock:"
	return clue{library: RedLockNet, pattern: scanner.PrefixPattern(prefix), confidence: High,
			evidence: "the name begins with redlock: and the value is a UUID"},
		strings.HasPrefix(e.Key, prefix) && e.text() && uuidOnly.MatchString(e.Head)
}

// celerySingleton: SINGLETONLOCK_<md5>, with the id of the task, a UUID; no TTL unless lock_expiry is set.
// steinitzu/celery-singleton, celery_singleton/util.py (generate_lock), config.py (key_prefix), backends/redis.py
// (lock).
func celerySingleton(e *entry) (clue, bool) {
	m := md5Suffix.FindStringSubmatch(e.Key)
	if m == nil || !e.text() || !uuidOnly.MatchString(e.Head) {
		return clue{}, false
	}
	c := clue{library: CelerySingleton, pattern: scanner.PrefixPattern(m[1]), confidence: Medium,
		evidence: "the name ends in an MD5 digest and the value is a UUID"}
	if m[1] == "SINGLETONLOCK_" {
		c.confidence, c.evidence = High, "the name is SINGLETONLOCK_ and an MD5 digest, and the value is a UUID"
	}
	return c, true
}

// redBeat: redbeat::lock by default, a lock of redis-py that beat renews for as long as it runs.
// sibson/redbeat, redbeat/schedulers.py: lock_key = key_prefix + ':lock', key_prefix 'redbeat:'.
func redBeat(e *entry) (clue, bool) {
	if !strings.HasSuffix(e.Key, "redbeat::lock") || !e.text() || !hexOnly.MatchString(e.Head) {
		return clue{}, false
	}
	pattern := strings.TrimSuffix(scanner.PrefixPattern(e.Key), "*")
	return clue{library: RedBeat, pattern: pattern, confidence: High,
		evidence: "the name ends in redbeat::lock and the value is 32 hex digits"}, true
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

// constant: SETNX with a value that does not name a holder: 1, true, a time.
func constant(e *entry) (clue, bool) {
	if !e.text() || !namesLock(e.Key) {
		return clue{}, false
	}
	if saysNothing.MatchString(e.Head) {
		return clue{library: SetNX, confidence: Medium,
			evidence: "the name suggests a lock; the value is a constant or a number, so holders look alike"}, true
	}
	return clue{library: SetNX, confidence: Low,
		evidence: "the name suggests a lock; the value has no known form"}, true
}

// byName returns the best confidence if the name suggests a lock, and low otherwise: caches and sessions have random
// values, too.
func byName(e *entry, l Library, evidence string, best Confidence) clue {
	if namesLock(e.Key) {
		return clue{library: l, confidence: best, evidence: evidence + ", and the name suggests a lock"}
	}
	return clue{library: l, confidence: Low, evidence: evidence}
}
