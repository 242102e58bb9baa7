package discover

import (
	"regexp"
	"strings"

	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
)

var (
	bullToken     = regexp.MustCompile(`^` + uuid + `:\d+$`)
	bullKey       = regexp.MustCompile(`^(.+:[^:]+):[^:]+:lock$`)
	bullPrefix    = regexp.MustCompile(`^\{?bull\}?:`)
	sidekiqKey    = regexp.MustCompile(`^(.*):[0-9a-f]{32,64}(:RUN)?:LOCKED$`)
	sidekiqJob    = regexp.MustCompile(`^[0-9a-f]{24}$`)
	hangfireQueue = regexp.MustCompile(`^(.*:)queue:[^:]+:dequeued:lock$`)
	md5Suffix     = regexp.MustCompile(`^(.*[_:-])[0-9a-f]{32}$`)
)

// jobForms are locks of job queues and schedulers that are strings.
func jobForms() []form {
	return []form{
		// asynq:{<queue>}:unique:<type>:<md5 of the payload>, with the id of the task, a UUID unless the caller gives
		// one. It stays until the task is done or its unique time is over. A task without a payload has no digest, and
		// old versions wrote the payload itself.
		// hibiken/asynq, internal/base/base.go: UniqueKey, QueueKeyPrefix; internal/rdb/rdb.go: enqueueUniqueCmd.
		{library: Asynq, key: regexp.MustCompile(`^asynq:\{.+?\}:unique:`), value: like(`.`),
			pattern: "asynq:{*}:unique:*", evidence: "the name is that of a unique task in a queue of asynq"},
		// activejob_uniqueness:<class>:<md5 of the arguments>, a lock of redlock-rb.
		// veeqo/activejob-uniqueness, lib/active_job/uniqueness/{configuration,lock_key,lock_manager}.rb.
		{library: ActiveJobUniqueness, value: isUUID,
			key:      regexp.MustCompile(`^((?:.*:)?activejob_uniqueness:)`),
			evidence: "the name is that of a unique job of activejob-uniqueness, and the value is a UUID"},
		// qo_<task>_<argument>-<value>, a lock of redis-py that stays until the task is done.
		// cameronmaske/celery-once, celery_once/helpers.py: queue_once_key; backends/redis.py: raise_or_lock.
		{library: CeleryOnce, key: regexp.MustCompile(`^(qo_)`), value: uuid1Hex.MatchString,
			evidence: "the name begins with qo_ and the value is a version 1 UUID in 32 hex digits"},
		// redbeat::lock by default, a lock of redis-py that beat renews for as long as it runs.
		// sibson/redbeat, redbeat/schedulers.py: lock_key = key_prefix + ':lock', key_prefix 'redbeat:'.
		{library: RedBeat, key: regexp.MustCompile(`^(.*redbeat::lock)$`), value: isHex,
			evidence: "the name ends in redbeat::lock and the value is 32 hex digits"},
		// rq:scheduler-lock:<queue>, with the name of the scheduler, a UUID in hex; old versions wrote a process id.
		// rq/rq, rq/scheduler.py: SCHEDULER_LOCKING_KEY_TEMPLATE, acquire_locks.
		{library: RQ, key: regexp.MustCompile(`^(rq:scheduler-lock:)`), value: like(`^([0-9a-f]{32}|\d{1,10})$`),
			evidence: "the name is that of a scheduler's lock of RQ"},
		// arq:in-progress:<job>, with 1, for as long as a job may run.
		// samuelcolvin/arq, arq/constants.py: in_progress_key_prefix; arq/worker.py: start_jobs.
		{library: ARQ, key: regexp.MustCompile(`^(arq:in-progress:)`), value: like(`^1$`),
			evidence: "the name is that of a running job of arq"},
		// huey.r.<name>.<name>.lock.<lock>, with '1' pickled. Only storages whose results expire have keys of their
		// own; others keep locks as fields of one hash.
		// coleifer/huey, huey/storage.py: RedisExpireStorage; huey/api.py: TaskLock.
		{library: Huey, key: regexp.MustCompile(`^(huey\.r\..+\.lock\.)`), value: like(`1`), lasting: true,
			evidence: "the name is that of a task's lock of huey"},
		// resque:lock:<job>, with the time at which the lock may be taken again, and no TTL.
		// defunkt/resque-lock, lib/resque/plugins/lock.rb: lock, before_enqueue_lock. lantins/resque-lock-timeout,
		// lib/resque/plugins/lock_timeout.rb: redis_lock_key, acquire_lock_algorithm!.
		{library: ResqueLock, key: regexp.MustCompile(`^((?:.*:)?resque:lock:)`), value: like(`^\d{10}$`), lasting: true,
			evidence: "the name begins with resque:lock: and the value is a time"},
		// <prefixes>laravel_unique_job:<class>:<id>, which has a TTL only if the job sets uniqueFor.
		// laravel/framework, src/Illuminate/Bus/UniqueLock.php: acquire, getKey.
		{library: LaravelUnique, key: regexp.MustCompile(`^(.*laravel_unique_job:)`), value: alnum16.MatchString,
			lasting:  true,
			evidence: "the name is that of a unique job of Laravel, and the value is 16 letters and digits"},
		// <namespace>:resque_scheduler_master_lock, with host and process id.
		// resque/resque-scheduler, lib/resque/scheduler/locking.rb: master_lock_key; lock/base.rb: value.
		{library: ResqueScheduler, value: like(`^.+:\d+$`),
			key:      regexp.MustCompile(`^((?:.*:)?resque_scheduler_master_lock)$`),
			evidence: "the name is that of the scheduler's lock, and the value is a host and a process id"},
	}
}

// bullLock: <prefix>:<queue>:<job>:lock, with the token <uuid>:<n> of the worker; Bull has <uuid> alone, which other
// libraries have too, so its default prefix counts.
// taskforcesh/bullmq, src/commands/includes/prepareJobForProcessing.lua (lockKey) and src/classes/worker.ts (token).
// OptimalBits/bull, lib/job.js (lockKey) and lib/queue.js (token).
func bullLock(e *entry) (clue, bool) {
	m := bullKey.FindStringSubmatch(e.Key)
	if m == nil || !e.text() ||
		!bullToken.MatchString(e.Head) && !(isUUID(e.Head) && bullPrefix.MatchString(e.Key)) {
		return clue{}, false
	}
	pattern := scanner.PrefixPattern(m[1]+":") + ":lock"
	return clue{library: BullMQ, pattern: pattern, confidence: High,
		evidence: "the name ends in :lock and the value is a worker's UUID"}, true
}

// sidekiqLocked: <prefix>:<digest>:LOCKED, a hash of job id to time or JSON; the prefix is uniquejobs by default.
// mhenrixon/sidekiq-unique-jobs, lib/sidekiq_unique_jobs/{key,lock_digest}.rb and lua/lock.lua (HSET locked, job_id).
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

// hangfireLock: <prefix><resource>, the prefix {hangfire}: by default, with the UUID of the process. Below another
// prefix, only the lock of the watcher of fetched jobs has a name of its own.
// marcoCasamento/Hangfire.Redis.StackExchange, RedisLock.cs: OwnerId; RedisStorage.cs: GetRedisKey;
// FetchedJobsWatcher.cs: queue:{queue}:dequeued:lock.
func hangfireLock(e *entry) (clue, bool) {
	if !e.text() || !isUUID(e.Head) {
		return clue{}, false
	}
	c := clue{library: Hangfire, confidence: High,
		evidence: "the name begins or ends as Hangfire's do, and the value is the UUID of a process"}
	if m := hangfireQueue.FindStringSubmatch(e.Key); m != nil {
		c.pattern = scanner.PrefixPattern(m[1]+"queue:") + ":dequeued:lock"
	}
	first, _, _ := strings.Cut(e.Key, ":")
	return c, c.pattern != "" || strings.Contains(strings.ToLower(first), "hangfire")
}

// celerySingleton: SINGLETONLOCK_<md5>, with the id of the task, a UUID; no TTL unless lock_expiry is set.
// steinitzu/celery-singleton, celery_singleton/util.py (generate_lock), config.py (key_prefix), backends/redis.py
// (lock).
func celerySingleton(e *entry) (clue, bool) {
	m := md5Suffix.FindStringSubmatch(e.Key)
	if m == nil || !e.text() || !isUUID(e.Head) || !strings.Contains(strings.ToLower(m[1]), "singleton") {
		return clue{}, false
	}
	c := clue{library: CelerySingleton, pattern: scanner.PrefixPattern(m[1]), confidence: Medium, lasting: true,
		evidence: "the name has the word singleton and ends in an MD5 digest, and the value is a UUID"}
	if m[1] == "SINGLETONLOCK_" {
		c.confidence, c.evidence = High, "the name is SINGLETONLOCK_ and an MD5 digest, and the value is a UUID"
	}
	return c, true
}
