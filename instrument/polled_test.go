package instrument_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock/memlock"
)

// TestPolled: a caller that a release has woken is not counted, and one that found the lock of a dead holder is.
func TestPolled(t *testing.T) {
	for _, dies := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			nodes := memlock.NewNodes(3)
			process := func() (*instrument.Locker, *memlock.Locker) {
				next, err := memlock.New(nodes)
				must(t, err)
				t.Cleanup(func() { must(t, next.Close()) })
				return wrap(t, next), next
			}
			waiter, _ := process()
			holder, itself := process()
			held, err := holder.Acquire(t.Context(), "job")
			must(t, err)
			time.AfterFunc(time.Second, func() {
				if dies {
					_ = itself.Close() // which releases nothing
				} else {
					_ = held.Release(t.Context())
				}
			})
			lease, err := waiter.Acquire(t.Context(), "job")
			must(t, err)
			want := map[bool]float64{true: 1}[dies]
			if n := gather(t, waiter, "polled_total", "resource", "job"); n != want {
				t.Errorf("the holder dies %v: %v", dies, n)
			}
			must(t, lease.Release(t.Context()))
		})
	}
}
