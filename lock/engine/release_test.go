package engine_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// TestAReleaseIsSentUntilItIsAnswered: Release returns once a quorum has released the lock. A server that was down
// releases it when it is back, long before the TTL ends.
func TestAReleaseIsSentUntilItIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := observe(t)
		lease, err := o.engine.Acquire(t.Context(), "job", lock.TTL(lock.DefaultMaxTTL), lock.NoRenew())
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // all three have granted
		o.servers[2].Crash()
		if err := lease.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		o.servers[2].Restart() // with its data
		if held := o.servers[2].Locks(); len(held) != 1 {
			t.Fatalf("it came back with %d locks", len(held))
		}
		time.Sleep(time.Second)
		if held := o.servers[2].Locks(); len(held) != 0 {
			t.Errorf("%d locks are left", len(held))
		}
	})
}
