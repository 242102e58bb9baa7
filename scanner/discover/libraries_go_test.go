package discover_test

import (
	"fmt"
	"time"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/discover"
)

const (
	base64Of16 = "8Q5xLzCgV2rEJwJ7yYtSIA=="
	asciiUUID1 = "6fa459ea-ee8a-11ee-8ca4-0242ac130003" // of version 1
	md5Sum     = "d41d8cd98f00b204e9800998ecf8427e"
)

// goLocks are locks of Go libraries.
func goLocks() []specimen {
	return []specimen{
		// lock/redlock: keys.go, value.go.
		{language: "Go", library: "lockscope", key: "lock:order:1001",
			value: fmt.Sprintf("0123456789abcdef0123456789abcdef:17|web-3/4711|%d||", time.Now().UnixMilli()),
			ttl:   time.Minute,
			as:    discover.Lockscope, sure: inspect.High, holder: "web-3/4711"},
		// go-redsync/redsync, mutex.go: genValue, acquire.
		{language: "Go", library: "redsync", key: "lock:order:1001", value: base64Of16, ttl: time.Minute,
			as: "redsync", sure: inspect.Medium},
		// go-co-op/gocron-redis-lock, redislock.go: Lock locks the name of the job with redsync.
		{language: "Go", library: "gocron-redis-lock", key: "nightly-report", value: base64Of16, ttl: time.Minute,
			as: "redsync", sure: inspect.Low},
		// bsm/redislock, redislock.go: ObtainMulti, randomToken.
		{language: "Go", library: "redislock", key: "lock:order:1001", value: "hTYMdGE4tKPBgV8bdmV0Nw",
			ttl: time.Minute, as: "redislock", sure: inspect.High},
		// hibiken/asynq, internal/base/base.go: UniqueKey; internal/rdb/rdb.go: enqueueUniqueCmd.
		{language: "Go", library: "asynq", key: "asynq:{default}:unique:mail:" + md5Sum, value: id, ttl: time.Hour,
			as: "asynq", sure: inspect.High},
		// zeromicro/go-zero, core/stores/redis/redislock.go: NewRedisLock, AcquireCtx; core/stringx/random.go: Randn.
		{language: "Go", library: "go-zero", key: "lock:order:1001", value: "aB3dE5gH7jK9mN1p", ttl: time.Minute,
			as: "alphanumeric token", sure: inspect.Medium},
		// redis/rueidis, rueidislock/lock.go: keyname, acquire; internal/util/rand.1.22.go: RandomBytes.
		{language: "Go", library: "rueidislock", key: "rueidislock:0:order-1001",
			value: "\x8f\x01\xfe\x10abcdefgh\x00\x02\x03\x04\xff\xfe\xfd\xfc\x80\x81\x82\x83", ttl: time.Minute,
			as: "rueidislock", sure: inspect.High},
		// jefferyjob/go-redislock, lock.go: New; lua/reentrantLock.lua.
		{language: "Go", library: "go-redislock", key: "{order:1001}", value: "lock_token:" + id, ttl: time.Minute,
			beside: map[string]any{"{order:1001}:count:lock_token:" + id: "1"},
			as:     "go-redislock", sure: inspect.High},
	}
}

// javaLocks are locks of Java libraries.
func javaLocks() []specimen {
	started := time.Now().UTC().Format("2006-01-02T15:04:05.000Z")
	return []specimen{
		// redisson/redisson, redisson/src/main/java/org/redisson/RedissonLock.java: tryLockInnerAsync, getLockName.
		{language: "Java", library: "Redisson lock", key: "order:1001", value: hash{id + ":42": 1}, ttl: time.Minute,
			as: "Redisson lock", sure: inspect.High, holder: "8743c9c0…:42"},
		// The same folder, RedissonReadLock.java: tryLockInnerAsync.
		{language: "Java", library: "Redisson read-write lock", key: "order:1001",
			value: hash{id + ":42": 1, "mode": "read"}, ttl: time.Minute,
			beside: map[string]any{"{order:1001}:" + id + ":42:rwlock_timeout:1": "1"},
			as:     "Redisson read-write lock", sure: inspect.High, holder: "8743c9c0…:42"},
		// The same folder, RedissonFairLock.java: threadsQueueName, timeoutSetName.
		{language: "Java", library: "Redisson fair lock", key: "order:1001", value: hash{id + ":42": 1},
			ttl: time.Minute, beside: map[string]any{"redisson_lock_timeout:{order:1001}": sortedSet{id + ":43"}},
			as: "Redisson fair lock", sure: inspect.High, holder: "8743c9c0…:42"},
		// The same folder, RedissonPermitExpirableSemaphore.java: timeoutName, tryAcquireAsync. The key is a number of
		// free permits, not a holder.
		{language: "Java", library: "Redisson permit semaphore", key: "pool", value: "3",
			beside: map[string]any{"{pool}:timeout": sortedSet{"p"}}, as: "Redisson semaphore",
			sure: inspect.High, alarm: inspect.NoTTL},
		// lukas-krecan/ShedLock, providers/redis/shedlock-support-redis/.../InternalRedisLockProvider.java: buildKey,
		// buildValue.
		{language: "Java", library: "ShedLock", key: "job-lock:default:nightly-report",
			value: "ADDED:" + started + "@batch-7:" + id, ttl: time.Minute, as: "ShedLock", sure: inspect.High,
			holder: "batch-7"},
		// spring-projects/spring-integration, spring-integration-redis/.../util/RedisLockRegistry.java:
		// constructLockKey, OBTAIN_LOCK_SCRIPT.
		{language: "Java", library: "Spring Integration", key: "shop-locks:order-1001", value: id, ttl: time.Minute,
			as: "UUID token", sure: inspect.Medium},
		// tishun/redlock4j, src/main/java/org/codarama/redlock4j/Redlock.java: generateLockValue.
		{language: "Java", library: "redlock4j", key: "order-lock", value: hexRand + "55ad0159", ttl: time.Minute,
			as: "redlock4j", sure: inspect.Medium},
	}
}

// nodeLocks are locks of libraries for Node.js.
func nodeLocks() []specimen {
	return []specimen{
		// mike-marcacci/node-redlock, src/index.ts: ACQUIRE_SCRIPT, _random.
		{language: "Node.js", library: "node-redlock", key: "locks:order:1001", value: hexRand, ttl: time.Minute,
			as: "node-redlock", sure: inspect.Medium},
		// alexpota/redlock-universal, src/utils/crypto.ts: generateLockValue.
		{language: "Node.js", library: "redlock-universal", key: "locks:order:1001", value: hexRand, ttl: time.Minute,
			as: "node-redlock", sure: inspect.Medium},
		// OptimalBits/bull, lib/job.js: lockKey; lib/queue.js: token.
		{language: "Node.js", library: "Bull", key: "bull:mail:1234:lock", value: id, ttl: time.Minute,
			beside: map[string]any{"bull:mail:1234": hash{"name": "send"}, "bull:mail:id": "1234"},
			as:     "BullMQ", sure: inspect.High},
		// taskforcesh/bullmq, src/commands/includes/prepareJobForProcessing.lua; src/classes/worker.ts.
		{language: "Node.js", library: "BullMQ", key: "bull:mail:1234:lock", value: id + ":7", ttl: time.Minute,
			as: "BullMQ", sure: inspect.High},
		// swarthy/redis-semaphore, src/RedisMutex.ts, src/Lock.ts: getIdentifier.
		{language: "Node.js", library: "redis-semaphore, mutex", key: "mutex:order:1001", value: id, ttl: time.Minute,
			as: "UUID token", sure: inspect.Medium},
		// The same, src/RedisSemaphore.ts, src/semaphore/acquire/lua.ts.
		{language: "Node.js", library: "redis-semaphore, semaphore", key: "semaphore:pool", value: sortedSet{id},
			ttl: time.Minute, alarm: inspect.ForeignType},
		// microfleet/ioredis-lock, src/lock.ts: _id.
		{language: "Node.js", library: "ioredis-lock", key: "lock:order:1001", value: id, ttl: time.Minute,
			as: "UUID token", sure: inspect.Medium},
		// danielstjules/redislock, lib/lock.js: _id is a UUID of version 1.
		{language: "Node.js", library: "redislock", key: "lock:order:1001", value: asciiUUID1, ttl: time.Minute,
			as: "UUID token", sure: inspect.Medium},
		// errorception/redis-lock, index.js: acquireLock.
		{language: "Node.js", library: "redis-lock", key: "lock.order-1001", value: "1763000005001", ttl: time.Minute,
			as: "SETNX", sure: inspect.Medium},
	}
}
