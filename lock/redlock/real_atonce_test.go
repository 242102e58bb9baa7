package redlock_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// TestRealOneOfManyAtOnce: processes that ask at the same instant and do not wait, as cron has them do, split the votes
// of the nodes. One of them gets the lock all the same.
func TestRealOneOfManyAtOnce(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 3)
	var processes []lock.Locker
	for range 5 {
		processes = append(processes, f.locker(lock.WithNodeTimeout(2*time.Second)))
	}
	for round := range 100 {
		var calls sync.WaitGroup
		begin, leases := make(chan struct{}), make(chan lock.Lease, len(processes))
		for _, l := range processes {
			calls.Go(func() {
				<-begin
				lease, err := l.Acquire(context.Background(), "report", lock.NoWait())
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
		if len(leases) != 1 {
			t.Errorf("round %d: %d processes got the lock", round, len(leases))
		}
		for lease := range leases {
			must(t, lease.Release(context.Background()))
		}
	}
}
