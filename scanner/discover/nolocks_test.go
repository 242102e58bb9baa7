package discover_test

import (
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/scanner/discover"
)

// noLock is a key of another kind, as a library or an application writes it.
type noLock struct {
	key   string
	value any
	ttl   time.Duration
}

// noLocks are keys that no library may be said to have locked.
func noLocks() []noLock {
	const hour = time.Hour
	return []noLock{
		{"session:abc", id, hour},                        // of any web framework
		{"session:abc", hexRand, hour},                   // the same, with another id
		{"spring:session:sessions:" + id, hexRand, hour}, // of Spring Session
		{"password_resets:ada", hexRand + "9f86d081", hour},
		{"ratelimit:203.0.113.7", "17", time.Minute},
		// Bogdanp/dramatiq, dramatiq/rate_limits/concurrent.py: a number under the caller's key.
		{"concurrent-mailer", "3", 15 * time.Minute},
		{"cart:123", "3", hour},
		{"cache:user:" + md5Sum, id, hour},
		{"user:42:device", id, 0}, // a reference
		{"order:1001:hash", hexRand, 0},
		{"avatar:42", "avatar_42_" + md5Sum, 0},
		// Sidekiq's counters.
		{"stat:processed", "12345", 0},
		{"stat:failed:2026-11-26", "3", 0},
		// hibiken/asynq, internal/base/base.go: ProcessedKey, TaskKey.
		{"asynq:{default}:processed:2026-11-26", "12", hour},
		{"asynq:{default}:t:" + id, hash{"msg": "x", "state": "pending"}, 0},
		// Bull and BullMQ: the id counter and the limiter.
		{"bull:mail:id", "1234", 0},
		{"bull:mail:limiter", "5", time.Minute},
		{"{hangfire}:stats:succeeded", "12", 0},
		// dv/redis-semaphore, lib/redis/semaphore.rb: exists_key. No semaphore of Redisson.
		{"SEMAPHORE:pool:EXISTS", "1", 0},
		// coleifer/huey, huey/storage.py: a result.
		{"huey.r.shop." + id, "\x80\x05K\x01.", hour},
		{"block:17", "1", 0},
	}
}

// TestNoLocks plants each key alone, and then all.
func TestNoLocks(t *testing.T) {
	c := connect(t, locktest.Servers(t, 1)[0])
	for _, n := range noLocks() {
		must(t, c.FlushAll(t.Context()).Err())
		write(t, c, n.key, n.value, n.ttl)
		if found := sample(t, c, discover.Options{}).Found; len(found) != 0 {
			t.Errorf("%s is claimed: %+v", n.key, found)
		}
	}
	for _, n := range noLocks() {
		write(t, c, n.key, n.value, n.ttl)
	}
	if found := sample(t, c, discover.Options{}).Found; len(found) != 0 {
		t.Errorf("claimed: %+v", found)
	}
}
