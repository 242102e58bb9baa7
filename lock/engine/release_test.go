package engine_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// TestAReleaseIsSentUntilItIsAnswered: the lease is over when a quorum has let it go, and a server that was away then
// lets it go when it is back, long before the TTL is over.
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
		o.servers[2].Restart() // with what it had
		if held := o.servers[2].Locks(); len(held) != 1 {
			t.Fatalf("it came back with %d locks", len(held))
		}
		time.Sleep(time.Second)
		if held := o.servers[2].Locks(); len(held) != 0 {
			t.Errorf("%d locks are left", len(held))
		}
	})
}
