package redlock_test

import (
	"errors"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
)

// TestRealOpenSnapshotRestoredInPlace shows a fault that lockscope does not cover. A process that has voted gets its
// own older data back while it runs, with its marker, as DEBUG RELOAD NOSAVE does. Nothing on the server shows that.
func TestRealOpenSnapshotRestoredInPlace(t *testing.T) {
	t.Parallel()
	f, lease := twoOfThree(t)
	other := guardedLocker(t, f.clients())
	must(t, acquire(t, other, "warm-up").Release(t.Context()))
	// The data of before the lock is back, and the lock is gone.
	snapshot := make(map[string]string)
	for _, key := range f.admin[1].Keys(t.Context(), "*").Val() {
		if key == "lock:job" {
			continue
		}
		value, err := f.admin[1].Dump(t.Context(), key).Result()
		if errors.Is(err, redis.Nil) {
			continue // a tombstone of the warm-up that expired after KEYS
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
