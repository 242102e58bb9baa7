package discover_test

import (
	"time"

	"github.com/lockscope/lockscope/lock/driver/inspect"
)

// netLocks are locks of .NET libraries.
func netLocks() []specimen {
	const lockID = "WEB-3_4711_8743c9c007954907a7fd6c719a6b4586"
	return []specimen{
		// samcook/RedLock.net, RedLockNet.SERedis/RedLock.cs: LockId, LockInstance;
		// Configuration/RedLockConnectionProvider.cs: DefaultRedisKeyFormat.
		{language: ".NET", library: "RedLock.net", key: "redlock:invoice:7", value: id, ttl: time.Minute,
			as: "RedLock.net or pottery", sure: inspect.High},
		// madelson/DistributedLock, src/DistributedLock.Redis/Primitives/RedisMutexPrimitive.cs;
		// RedLock/RedLockHelper.cs: CreateLockId.
		{language: ".NET", library: "DistributedLock.Redis, lock", key: "order-lock", value: lockID, ttl: time.Minute,
			as: "DistributedLock.Redis", sure: inspect.High},
		// The same, RedisDistributedReaderWriterLock.cs: WriterKey; RedisReaderWriterLockPrimitives.cs.
		{language: ".NET", library: "DistributedLock.Redis, writer", key: "order-lock.writer",
			value: lockID + "_WRITERWAITING", ttl: time.Minute, as: "DistributedLock.Redis", sure: inspect.High},
		// The same: ReaderKey.
		{language: ".NET", library: "DistributedLock.Redis, readers", key: "order-lock.readers", value: set{lockID},
			ttl: time.Minute, alarm: inspect.ForeignType},
		// The same, Primitives/RedisSemaphorePrimitive.cs: AcquireScript.
		{language: ".NET", library: "DistributedLock.Redis, semaphore", key: "pool", value: sortedSet{lockID},
			ttl: 90 * time.Second, alarm: inspect.ForeignType},
		// riberk/RedlockDotNet, src/RedlockDotNet.Redis/RedisRedlockInstance.cs: SetLua;
		// src/RedlockDotNet/RedlockFactory.cs: Nonce.
		{language: ".NET", library: "RedlockDotNet", key: "locks:order:1001",
			value: hash{"nonce": "8743c9c007954907a7fd6c719a6b4586"}, ttl: time.Minute, as: "RedlockDotNet",
			sure: inspect.High, alarm: inspect.ForeignType},
		// marcoCasamento/Hangfire.Redis.StackExchange, RedisLock.cs: OwnerId, Acquire; RedisStorageOptions.cs: Prefix.
		{language: ".NET", library: "Hangfire.Redis.StackExchange", key: "{hangfire}:queue:default:dequeued:lock",
			value: id, ttl: time.Minute, as: "Hangfire", sure: inspect.High},
		// StackExchange/StackExchange.Redis, src/StackExchange.Redis/RedisDatabase.cs: LockTake. Key and value are the
		// caller's.
		{language: ".NET", library: "StackExchange.Redis LockTake", key: "lock:order:1001", value: "WEB-3",
			ttl: time.Minute, as: "SETNX", sure: inspect.Low},
	}
}

// phpLocks are locks of PHP libraries.
func phpLocks() []specimen {
	return []specimen{
		// symfony/lock, Store/RedisStore.php: save, getUniqueToken.
		{language: "PHP", library: "Symfony Lock", key: "order-lock",
			value: sortedSet{"3q2+7wAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "__write__"}, ttl: 5 * time.Minute,
			alarm: inspect.ForeignType},
		// laravel/framework, src/Illuminate/Cache/{Lock,RedisLock}.php.
		{language: "PHP", library: "Laravel", value: "aB3dE5gH7jK9mN1p", ttl: time.Minute,
			key: "laravel_database_laravel_cache_:import", as: "Laravel", sure: inspect.High},
		// The same, src/Illuminate/Bus/UniqueLock.php: getKey, acquire. The job sets no uniqueFor.
		{language: "PHP", library: "Laravel unique job", value: "aB3dE5gH7jK9mN1p",
			key: `laravel_database_laravel_cache_:laravel_unique_job:App\Jobs\Report:11`,
			as:  "Laravel unique job", sure: inspect.High, alarm: inspect.NoTTL},
		// php-lock/lock, src/Util/LockUtil.php: getKeyPrefix, makeRandomToken; src/Mutex/RedisMutex.php: add.
		{language: "PHP", library: "malkusch/lock", key: "php-malkusch-lock:order-1001", value: hexRand + md5Sum,
			ttl: time.Minute, as: "malkusch/lock", sure: inspect.High},
		// cheprasov/php-redis-lock, src/RedisLock/RedisLock.php: createToken, acquire.
		{language: "PHP", library: "php-redis-lock", key: "Lock_order", value: "4711:0.12345600 1763000000:4821",
			ttl: time.Minute, as: "php-redis-lock", sure: inspect.High},
		// ronnylt/redlock-php, src/RedLock.php: lock, lockInstance.
		{language: "PHP", library: "redlock-php", key: "lock:order:1001", value: "6915f3a0c8b1d", ttl: time.Minute,
			as: "redlock-php", sure: inspect.Medium},
		// yiisoft/yii2-redis, src/Mutex.php: calculateKey, acquireLock.
		{language: "PHP", library: "Yii 2", key: "8f14e" + md5Sum, value: "Zk3_x9Qa-7LmN0pRtUvW", ttl: time.Minute,
			as: "Yii 2", sure: inspect.High},
		// amphp/redis, src/Sync/RedisMutex.php: LOCK, lock. The token is redsync's.
		{language: "PHP", library: "amphp/redis", key: "lock:order-1001", value: base64Of16, ttl: time.Minute,
			as: "redsync", sure: inspect.Medium},
	}
}

// otherLocks are locks of libraries in Rust and Elixir, and of scripts.
func otherLocks() []specimen {
	return []specimen{
		// hexcowboy/rslock, src/lock.rs: get_unique_lock_id, lock_instance.
		{language: "Rust", library: "rslock", key: "order-lock", ttl: time.Minute,
			value: "\x8f\x01\xfe\x10abcdefgh\x00\x02\x03\x04\xff\xfe\xfd\xfc", as: "rslock",
			sure: inspect.Medium},
		// lyokato/redlock, lib/redlock/util.ex: random_value; lib/redlock/command.ex: lock.
		{language: "Elixir", library: "redlock", key: "order-lock", value: hexRand + hexRand + "9f86d081884c3d65",
			ttl: time.Minute, as: "redlock (Elixir)", sure: inspect.High},
		// The documentation of SET: SET key value NX PX.
		{language: "any", library: "`SET NX` in a script", key: "cron.lock.nightly", value: "1", ttl: time.Minute,
			as: "SETNX", sure: inspect.Medium},
	}
}
