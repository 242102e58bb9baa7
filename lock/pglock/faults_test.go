package pglock_test

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// hold is a time for which a lease was valid.
type hold struct {
	from, to time.Time
	fence    uint64
}

// TestFaultsLetNoTwoHold has processes contend while the server crashes, hangs and comes back: holds do not overlap,
// and fences rise in their order.
func TestFaultsLetNoTwoHold(t *testing.T) {
	s := server(t, "fsync=on", "synchronous_commit=off")
	const ttl = 2 * time.Second
	ctx, stop := context.WithCancel(t.Context())
	var mu sync.Mutex
	var holds []hold
	var working sync.WaitGroup
	for range 3 {
		l := locker(t, s, lock.WithNodeTimeout(300*time.Millisecond))
		for range 3 {
			working.Go(func() {
				for ctx.Err() == nil {
					lease, err := l.Acquire(ctx, "job", lock.TTL(ttl), lock.MaxWait(ttl))
					if err != nil {
						continue
					}
					h := hold{from: time.Now(), fence: lease.Fence()}
					select {
					case <-lease.Context().Done():
					case <-time.After(time.Duration(1+rand.IntN(20)) * time.Millisecond):
					}
					h.to = time.Now()
					_ = lease.Release(context.WithoutCancel(ctx)) // it may find no server
					mu.Lock()
					holds = append(holds, h)
					mu.Unlock()
				}
			})
		}
	}
	held := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(holds)
	}
	for round := range 6 {
		before := held()
		eventually(t, "somebody has the lock again", func() bool { return held() > before+20 })
		if round%2 == 0 {
			must(t, s.Kill())
			must(t, s.Restart(t.Context()))
			continue
		}
		must(t, s.Pause())
		time.Sleep(ttl) // leases run out meanwhile
		must(t, s.Resume())
	}
	stop()
	working.Wait()
	slices.SortFunc(holds, func(a, b hold) int { return cmp.Compare(a.fence, b.fence) })
	for i := 1; i < len(holds); i++ {
		if a, b := holds[i-1], holds[i]; a.fence == b.fence || b.from.Before(a.to) {
			t.Errorf("fence %d from %v to %v, and fence %d from %v", a.fence, a.from, a.to, b.fence, b.from)
		}
	}
	t.Logf("%d holds, three crashes and three times hung", len(holds))
}
