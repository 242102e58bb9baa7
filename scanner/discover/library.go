package discover

import "fmt"

// Library names the library that writes locks of a form.
type Library string

// The libraries that are recognised.
const (
	Lockscope         Library = "lockscope"
	Redsync           Library = "redsync"
	Redislock         Library = "redislock"
	NodeRedlock       Library = "node-redlock"
	Redisson          Library = "Redisson lock"
	RedissonRW        Library = "Redisson read-write lock"
	RedissonFair      Library = "Redisson fair lock"
	RedissonSemaphore Library = "Redisson semaphore"
	ShedLock          Library = "ShedLock"
	RedLockNet        Library = "RedLock.net"
	Hangfire          Library = "Hangfire"
	Asynq             Library = "asynq"
	UUIDToken         Library = "UUID token" // of Spring Integration, redlock-rb and others, which look alike
	Laravel           Library = "Laravel"
	RedisPy           Library = "redis-py"
	PythonRedisLock   Library = "python-redis-lock"
	SidekiqUnique     Library = "sidekiq-unique-jobs"
	CelerySingleton   Library = "celery-singleton"
	RedBeat           Library = "redbeat"
	BullMQ            Library = "BullMQ"
	SetNX             Library = "SETNX"
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
