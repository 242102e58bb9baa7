package redlock_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/lockscope/lockscope/lock"
)

// TestRealNothingLeftAfterManyPairs releases while slow nodes are still granting. Each of these grants must be undone.
func TestRealNothingLeftAfterManyPairs(t *testing.T) {
	const workers, pairs = 8, 20_000 / 8
	f := startNodes(t, 5)
	// A busy machine must not make an outcome unknown: that leaves a tombstone for a minute, by design.
	l := f.locker(lock.WithNodeTimeout(patience))
	var wg sync.WaitGroup
	errs := make(chan error, workers)
	last := make([]map[string]uint64, workers)
	for w := range workers {
		last[w] = map[string]uint64{}
		wg.Go(func() {
			for i := range pairs {
				resource := fmt.Sprintf("pair/%d/%d", w, i%16)
				lease, err := l.Acquire(t.Context(), resource, lock.TTL(longTTL))
				if err == nil {
					if lease.Fence() <= last[w][resource] {
						err = fmt.Errorf("%s: fence %d after %d", resource, lease.Fence(), last[w][resource])
					}
					last[w][resource] = lease.Fence()
					if released := lease.Release(t.Context()); released != nil {
						err = released
					}
				}
				if err != nil {
					errs <- fmt.Errorf("pair %d of worker %d: %w", i, w, err)
					return
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
	f.wantOnlyFences()
}
