package redlock_test

import (
	"fmt"
	"testing"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
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

// TestRealCloseDuringAnAttempt: nodes that grant after the call has ended are asked to release what nobody holds.
func TestRealCloseDuringAnAttempt(t *testing.T) {
	t.Parallel()
	f, rec := startNodes(t, 3), newRecorder()
	l := f.locker(lock.WithNodeTimeout(patience))
	f.warm(l)
	f.pause(f.all()...)
	call := acquireAsync(rec.in(t.Context()), l, "job", lock.TTL(longTTL))
	awaitEvents(t, rec, settleTime, 3, "an acquire on each node", func(e locktrace.NodeStart) bool {
		return e.Op == lock.OpAcquire
	})
	closed := make(chan error, 1)
	go func() { closed <- l.Close() }()
	wantErr(t, await(t, settleTime, "the end of the call", call).err, lock.ErrClosed)
	f.resume(f.all()...)
	must(t, await(t, settleTime, "the end of Close", closed))
	if left := f.keys("lock:*", f.all()...); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}
