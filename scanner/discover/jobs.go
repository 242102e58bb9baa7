package discover

import (
	"regexp"
	"strings"

	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
)

var (
	bullToken  = regexp.MustCompile(`^` + uuid + `(:\d+)?$`)
	bullKey    = regexp.MustCompile(`^(.+:[^:]+):[^:]+:lock$`)
	sidekiqKey = regexp.MustCompile(`^(.*):[0-9a-f]{32,64}(:RUN)?:LOCKED$`)
	sidekiqJob = regexp.MustCompile(`^[0-9a-f]{24}$`)
	asynqKey   = regexp.MustCompile(`^asynq:\{[^}]*\}:unique:.+:([0-9a-f]{32})?$`)
	md5Suffix  = regexp.MustCompile(`^(.*[_:-])[0-9a-f]{32}$`)
)

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
