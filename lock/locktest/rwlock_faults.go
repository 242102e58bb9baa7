package locktest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/rwlock"
)

// TestRWLockThrough lets callers of three Lockers read and write while fault runs. It fails if a call fails, or if the
// lease of a writer and another lease were valid at once. opts are those of each call.
func TestRWLockThrough(t *testing.T, newLocker func(t testing.TB) lock.Locker, fault func(),
	opts ...lock.AcquireOption) {
	const processes, callers, rounds = 3, 3, 12
	var all sync.WaitGroup
	inside := &validLeases{writes: make(map[lock.Lease]bool)}
	for range processes {
		l, err := rwlock.New(newLocker(t), t.Name())
		if err != nil {
			t.Fatal(err)
		}
		for caller := range callers {
			all.Go(func() {
				for round := range rounds {
					acquire, writes := l.RLock, (caller+round)%3 == 0
					if writes {
						acquire = l.Lock
					}
					lease, err := acquire(t.Context(), opts...)
					if err != nil {
						t.Error(err)
						return
					}
					inside.enter(t, lease, writes)
					time.Sleep(10 * time.Millisecond)
					inside.leave(lease)
					_ = lease.Release(context.Background()) // what does not arrive ends with its TTL
				}
			})
		}
	}
	fault()
	all.Wait()
}

// validLeases are the leases of callers that are inside, and whether they write.
type validLeases struct {
	mu     sync.Mutex
	writes map[lock.Lease]bool
}

func (v *validLeases) enter(t testing.TB, lease lock.Lease, writes bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for other, otherWrites := range v.writes {
		if (writes || otherWrites) && other.Remaining() > 0 && lease.Remaining() > 0 {
			t.Errorf("a writer beside another holder: fences %d and %d", other.Fence(), lease.Fence())
		}
	}
	v.writes[lease] = writes
}

func (v *validLeases) leave(lease lock.Lease) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.writes, lease)
}
