package redlock_test

import (
	"errors"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
)

// TestRealOpenSnapshotRestoredInPlace says what happens and is not covered: the very process that voted has its own
// older data put back while it runs, marker and all, as DEBUG RELOAD NOSAVE does. Nothing on the server tells that
// from never having been away.
func TestRealOpenSnapshotRestoredInPlace(t *testing.T) {
	t.Parallel()
	f, lease := twoOfThree(t)
	other := guardedLocker(t, f.clients())
	must(t, acquire(t, other, "warm-up").Release(t.Context()))
	// What was there before the lock is back, and the lock is not.
	snapshot := make(map[string]string)
	for _, key := range f.admin[1].Keys(t.Context(), "*").Val() {
		if key == "lock:job" {
			continue
		}
		value, err := f.admin[1].Dump(t.Context(), key).Result()
		if errors.Is(err, redis.Nil) {
			continue // a tombstone of the warm-up, expired since KEYS named it
		}
		must(t, err)
		snapshot[key] = value
	}
	must(t, f.admin[1].FlushAll(t.Context()).Err())
	for key, value := range snapshot {
		must(t, f.admin[1].RestoreReplace(t.Context(), key, 0, value).Err())
	}
	second := acquire(t, other, "job", lock.TTL(longTTL))
	if lease.Remaining() <= 0 || second.Remaining() <= 0 {
		t.Errorf("not two valid leases any more: %v and %v left", lease.Remaining(), second.Remaining())
	}
}
