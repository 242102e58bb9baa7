package redlock_test

import (
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// TestRealOneWrongNode leaves a key without a TTL on one node of three: on each in turn, so also on the one with the
// queue. A quorum of the others is free, so no caller may wait for that key.
func TestRealOneWrongNode(t *testing.T) {
	f := startNodes(t, 3)
	const poll = 50 * time.Millisecond
	for i := range f.admin {
		must(t, f.admin[i].Set(t.Context(), "lock:job", "left behind by another library", 0).Err())
		for name, opts := range map[string][]lock.AcquireOption{
			"at once": nil,
			"fair":    {lock.Fair()},
		} {
			began := time.Now()
			l := f.locker(lock.WithPollInterval(poll))
			lease, err := l.Acquire(t.Context(), "job", append(opts, lock.MaxWait(settleTime), lock.TTL(longTTL))...)
			if err != nil {
				t.Errorf("node %d, %s: %v after %v", i, name, err, time.Since(began))
				continue
			}
			waiting := acquireAsync(t.Context(), f.locker(lock.WithPollInterval(poll)), "job",
				append(opts, lock.TTL(longTTL))...)
			eventually(t, settleTime, "the waiter queues", func() bool { return f.queued("job") == 1 })
			must(t, lease.Release(t.Context()))
			g := await(t, settleTime, "the waiter", waiting)
			must(t, g.err)
			must(t, g.lease.Release(t.Context()))
		}
		must(t, f.admin[i].Del(t.Context(), "lock:job").Err())
	}
}
