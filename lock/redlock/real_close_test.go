package redlock_test

import (
	"fmt"
	"testing"

	"github.com/lockscope/lockscope/lock"
)

// TestRealCloseAfterRelease: Release returns once a quorum has answered. A program that ends then, as a command does,
// leaves no lock on the other nodes.
func TestRealCloseAfterRelease(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 3)
	for i := range 20 {
		l := f.locker(lock.WithNodeTimeout(patience))
		lease := acquire(t, l, fmt.Sprintf("job %d", i), lock.TTL(longTTL))
		must(t, lease.Release(t.Context()))
		must(t, l.Close())
		if left := f.keys("lock:*", f.all()...); len(left) > 0 {
			t.Fatalf("left behind: %q", left)
		}
	}
}
