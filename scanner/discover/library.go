package discover

import "fmt"

// Library names the library that writes locks of a form.
type Library string

// The libraries that are recognised. Where several write the same form, the name says so or the evidence does.
const (
	Lockscope           Library = "lockscope"
	Redsync             Library = "redsync"
	Redislock           Library = "redislock"
	Rueidislock         Library = "rueidislock"
	GoRedislock         Library = "go-redislock"
	Asynq               Library = "asynq"
	Redisson            Library = "Redisson lock"
	RedissonRW          Library = "Redisson read-write lock"
	RedissonFair        Library = "Redisson fair lock"
	RedissonSemaphore   Library = "Redisson semaphore"
	ShedLock            Library = "ShedLock"
	Redlock4j           Library = "redlock4j"
	NodeRedlock         Library = "node-redlock"
	BullMQ              Library = "BullMQ"
	RedisPy             Library = "redis-py"
	PythonRedisLock     Library = "python-redis-lock"
	RedlockPy           Library = "redlock-py"
	CeleryOnce          Library = "celery-once"
	CelerySingleton     Library = "celery-singleton"
	RedBeat             Library = "redbeat"
	RQ                  Library = "RQ scheduler"
	ARQ                 Library = "arq"
	Huey                Library = "huey"
	SidekiqUnique       Library = "sidekiq-unique-jobs"
	ActiveJobUniqueness Library = "activejob-uniqueness"
	ResqueLock          Library = "resque-lock"
	ResqueScheduler     Library = "resque-scheduler"
	RedisMutexRuby      Library = "redis-mutex"
	RedisLockRuby       Library = "redis-lock (Ruby)"
	RedisSemaphoreRuby  Library = "redis-semaphore (Ruby)"
	RedLockNet          Library = "RedLock.net or pottery"
	DistributedLockNet  Library = "DistributedLock.Redis"
	RedlockDotNet       Library = "RedlockDotNet"
	Hangfire            Library = "Hangfire"
	Laravel             Library = "Laravel"
	LaravelUnique       Library = "Laravel unique job"
	PHPLock             Library = "malkusch/lock"
	PHPRedisLock        Library = "php-redis-lock"
	RedlockPHP          Library = "redlock-php"
	Yii2                Library = "Yii 2"
	RSLock              Library = "rslock"
	RedlockElixir       Library = "redlock (Elixir)"
	UUIDToken           Library = "UUID token"         // of Spring Integration, redlock-rb and others, which look alike
	AlphanumericToken   Library = "alphanumeric token" // of go-zero, and of Laravel under names of the application
	SetNX               Library = "SETNX"              // a constant, a number or a text of no known form
)

// Confidence is how sure a recognition is.
type Confidence int

// From a guess to a form that nothing else has.
const (
	Low    Confidence = iota + 1 // the form is common and the name does not suggest a lock
	Medium                       // the form is common and the name suggests a lock
	High                         // the form, or form and name, are the library's own
)

// String returns low, medium or high.
func (c Confidence) String() string {
	switch c {
	case Low:
		return "low"
	case Medium:
		return "medium"
	case High:
		return "high"
	}
	return fmt.Sprintf("Confidence(%d)", int(c))
}
