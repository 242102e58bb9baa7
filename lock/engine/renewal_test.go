package engine_test

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/internal/clock"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// TestLeasesAcquiredTogetherAreRenewedApart: the first renewals are spread over the time from a quarter to a third of
// the TTL, and every lease has had its first by then.
func TestLeasesAcquiredTogetherAreRenewedApart(t *testing.T) {
	inProcess(t, func(p *process) {
		const leases, ttl = 400, 12 * time.Second
		var mu sync.Mutex
		var after []time.Duration
		began := time.Now()
		ctx := locktrace.With(p.t.Context(), &locktrace.Trace{RenewEnd: func(context.Context, locktrace.RenewEnd) {
			mu.Lock()
			defer mu.Unlock()
			after = append(after, time.Since(began))
		}})
		for i := range leases {
			if _, err := p.locker.Acquire(ctx, strconv.Itoa(i), lock.TTL(ttl)); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took != 0 {
			t.Fatalf("the leases were acquired over %v, so their renewals say nothing", took)
		}
		time.Sleep(ttl/3 + time.Millisecond)
		mu.Lock()
		defer mu.Unlock()
		if len(after) != leases {
			t.Fatalf("%d renewals in a third of the TTL, want one of each of %d leases", len(after), leases)
		}
		const parts = 10
		var in [parts]int
		for _, d := range after {
			part := int((d - ttl/4) * parts / (ttl/3 - ttl/4 + 1))
			if d < ttl/4-clock.Tick || part >= parts {
				t.Fatalf("a renewal %v after the grant, want a quarter to a third of %v", d, ttl)
			}
			in[max(part, 0)]++
		}
		for _, n := range in {
			// 40 are expected. That one of ten has none, or 90, does not happen by chance.
			if n == 0 || n > 90 {
				t.Errorf("renewals by tenth of that time: %v, want about %d in each", in, leases/parts)
				break
			}
		}
	})
}
