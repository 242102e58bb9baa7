package discover_test

import (
	"time"

	"github.com/lockscope/lockscope/lock/driver/inspect"
)

// pythonLocks are locks of Python libraries.
func pythonLocks() []specimen {
	return []specimen{
		// redis/redis-py, redis/lock.py: acquire, do_acquire. The timeout is None by default: no TTL.
		{language: "Python", library: "redis-py", key: "lock:order:1001", value: hexUUID, ttl: time.Minute,
			as: "redis-py", sure: inspect.High},
		// jazzband/django-redis, django_redis/client/default.py: lock is redis-py's, under the key of the cache.
		{language: "Python", library: "django-redis", key: ":1:order-lock", value: hexUUID, ttl: time.Minute,
			as: "redis-py", sure: inspect.High},
		// SPSCommerce/redlock-py, redlock/__init__.py: get_unique_id.
		{language: "Python", library: "redlock-py", key: "lock:order:1001", value: "hTYMdGE4tKPBgV8bdmV0Nx",
			ttl: time.Minute, as: "redlock-py", sure: inspect.Medium},
		// ionelmc/python-redis-lock, src/redis_lock/__init__.py: _id, _name.
		{language: "Python", library: "python-redis-lock", key: "lock:order-1001", value: "Q2hhbmdlIG1lIHRvIGEgbG9j",
			ttl: time.Minute, as: "python-redis-lock", sure: inspect.Medium},
		// brainix/pottery, pottery/redlock.py: _KEY_PREFIX; pottery/base.py: Primitive.key.
		{language: "Python", library: "pottery", key: "redlock:printer", value: id, ttl: time.Minute,
			as: "RedLock.net or pottery", sure: inspect.High},
		// joanvila/aioredlock, aioredlock/algorithm.py: lock.
		{language: "Python", library: "aioredlock", key: "lock:order:1001", value: id, ttl: time.Minute,
			as: "UUID token", sure: inspect.Medium},
		// cameronmaske/celery-once, celery_once/helpers.py: queue_once_key; celery_once/backends/redis.py.
		{language: "Python", library: "celery-once", key: "qo_tasks.report_month-11", value: hexUUID, ttl: time.Hour,
			as: "celery-once", sure: inspect.High},
		// steinitzu/celery-singleton, celery_singleton/util.py: generate_lock; celery_singleton/backends/redis.py.
		{language: "Python", library: "celery-singleton", key: "SINGLETONLOCK_" + md5Sum, value: id,
			as: "celery-singleton", sure: inspect.High, alarm: inspect.NoTTL},
		// sibson/redbeat, redbeat/schedulers.py: lock_key, acquire_distributed_beat_lock.
		{language: "Python", library: "redbeat", key: "redbeat::lock", value: hexUUID, ttl: 25 * time.Minute,
			as: "redbeat", sure: inspect.High},
		// rq/rq, rq/scheduler.py: SCHEDULER_LOCKING_KEY_TEMPLATE, acquire_locks.
		{language: "Python", library: "RQ scheduler", key: "rq:scheduler-lock:default",
			value: "8743c9c007954907a7fd6c719a6b4586", ttl: time.Minute, as: "RQ scheduler", sure: inspect.High},
		// samuelcolvin/arq, arq/constants.py: in_progress_key_prefix; arq/worker.py: start_jobs.
		{language: "Python", library: "arq", key: "arq:in-progress:" + hexRand, value: "1", ttl: time.Minute,
			as: "arq", sure: inspect.High},
		// coleifer/huey, huey/api.py: TaskLock; huey/storage.py: RedisExpireStorage.put_if_empty. pickle.dumps('1').
		{language: "Python", library: "huey, RedisExpireStorage", key: "huey.r.shop.shop.lock.report",
			value: "\x80\x05\x95\x05\x00\x00\x00\x00\x00\x00\x00\x8c\x011\x94.", as: "huey",
			sure: inspect.High, alarm: inspect.NoTTL},
		// The same, RedisStorage: a field of the hash of all results.
		{language: "Python", library: "huey, RedisStorage", key: "huey.results.shop",
			value: hash{"shop.lock.report": "\x80\x05\x95\x05\x00\x00\x00\x00\x00\x00\x00\x8c\x011\x94."},
			alarm: inspect.ForeignType},
	}
}

// rubyLocks are locks of Ruby libraries.
func rubyLocks() []specimen {
	return []specimen{
		// leandromoreira/redlock-rb, lib/redlock/client.rb: try_lock_instances; lib/redlock/scripts.rb: LOCK_SCRIPT.
		{language: "Ruby", library: "redlock-rb", key: "lock:order:1001", value: id, ttl: time.Minute,
			as: "UUID token", sure: inspect.Medium},
		// veeqo/activejob-uniqueness, lib/active_job/uniqueness/{configuration,lock_key,lock_manager}.rb.
		{language: "Ruby", library: "activejob-uniqueness", key: "activejob_uniqueness:report_job:" + md5Sum, value: id,
			ttl: 24 * time.Hour, as: "activejob-uniqueness", sure: inspect.High},
		// mhenrixon/sidekiq-unique-jobs, lib/sidekiq_unique_jobs/{key,lock_digest}.rb, lua/lock.lua.
		{language: "Ruby", library: "sidekiq-unique-jobs", key: "uniquejobs:" + md5Sum + ":LOCKED",
			value:  hash{"b4a577edbccf1d805744efa9": `{"worker":"ReportJob","time":1763000000.123}`},
			beside: map[string]any{"uniquejobs:digests": sortedSet{"uniquejobs:" + md5Sum}, "stat:processed": "12345"},
			as:     "sidekiq-unique-jobs", sure: inspect.High, alarm: inspect.ForeignType},
		// kenn/redis-mutex, lib/redis_mutex.rb: try_lock; kenn/redis-classy, lib/redis_classy.rb: redis.
		{language: "Ruby", library: "redis-mutex", key: "RedisMutex:Order:1001", value: "1763000010.1234567",
			as: "redis-mutex", sure: inspect.High, alarm: inspect.NoTTL},
		// nateware/redis-objects, lib/redis/lock.rb: lock; lib/redis/objects/locks.rb: redis_lock.
		{language: "Ruby", library: "redis-objects", key: "order:1001:ship_lock", value: "", ttl: time.Minute,
			as: "SETNX", sure: inspect.Medium},
		// mlanett/redis-lock, lib/redis-lock.rb: initialize, do_lock. The end is in a key of its own.
		{language: "Ruby", library: "redis-lock (mlanett)", key: "lock:owner:order-1001", value: "web-3:4711",
			beside: map[string]any{"lock:expire:order-1001": "1763000060"}, as: "redis-lock (Ruby)",
			sure: inspect.High, alarm: inspect.NoTTL},
		// PatrickTulskie/redis-lock, lib/redis/lock.rb: lock_expiration, lock_key.
		{language: "Ruby", library: "redis-lock (PatrickTulskie)", key: "lock:order-1001",
			value: "1763000061-4711-2160", as: "SETNX", sure: inspect.Low, alarm: inspect.NoTTL},
		// dv/redis-semaphore, lib/redis/semaphore.rb: namespaced_key, lock, create!.
		{language: "Ruby", library: "redis-semaphore", key: "SEMAPHORE:pool:GRABBED",
			value:  hash{"0": "1763000000.123"},
			beside: map[string]any{"SEMAPHORE:pool:EXISTS": "1", "SEMAPHORE:pool:VERSION": "1"},
			as:     "redis-semaphore (Ruby)", sure: inspect.High, alarm: inspect.ForeignType},
		// resque/resque-scheduler, lib/resque/scheduler/locking.rb: master_lock_key; lock/base.rb, lock/resilient.rb.
		{language: "Ruby", library: "resque-scheduler", key: "resque:resque_scheduler_master_lock", value: "web-3:4711",
			ttl: 3 * time.Minute, as: "resque-scheduler", sure: inspect.High},
		// lantins/resque-lock-timeout, lib/resque/plugins/lock_timeout.rb: redis_lock_key, acquire_lock_algorithm!.
		{language: "Ruby", library: "resque-lock-timeout", key: "resque:lock:ReportJob:11", value: "1763003600",
			as: "resque-lock", sure: inspect.High, alarm: inspect.NoTTL},
		// defunkt/resque-lock, lib/resque/plugins/lock.rb: lock, before_enqueue_lock.
		{language: "Ruby", library: "resque-lock", key: "resque:lock:ReportJob-[11]", value: "1763003601",
			as: "resque-lock", sure: inspect.High, alarm: inspect.NoTTL},
	}
}
