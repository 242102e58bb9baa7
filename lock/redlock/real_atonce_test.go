package redlock_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/lockscope/lockscope/lock"
)

// TestRealOneOfManyAtOnce: processes that ask at the same instant and do not wait, as cron has them do, split the votes
// of the nodes. Never do two of them get the lock; one does, unless a process with a vote stays without CPU for so long
// that the others give up.
func TestRealOneOfManyAtOnce(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 3)
	var processes []lock.Locker
	for range 5 {
		processes = append(processes, f.locker(lock.WithNodeTimeout(patience)))
	}
	const rounds = 100
	none := 0
	for round := range rounds {
		var calls sync.WaitGroup
		begin, leases := make(chan struct{}), make(chan lock.Lease, len(processes))
		for _, l := range processes {
			calls.Go(func() {
				<-begin
				lease, err := l.Acquire(context.Background(), "report", lock.NoWait(), lock.TTL(longTTL))
				if err == nil {
					leases <- lease
				} else if !errors.Is(err, lock.ErrHeld) {
					t.Errorf("round %d: %v", round, err)
				}
			})
		}
		close(begin)
		calls.Wait()
		close(leases)
		switch len(leases) {
		case 1:
		case 0:
			none++
		default:
			t.Errorf("round %d: %d processes got the lock", round, len(leases))
		}
		for lease := range leases {
			must(t, lease.Release(context.Background()))
		}
	}
	if none == rounds {
		t.Error("no process got the lock in any round")
	}
}
