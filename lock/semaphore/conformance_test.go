package semaphore_test

import (
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/memlock"
)

// TestConformance on nodes in memory, in true time.
func TestConformance(t *testing.T) {
	nodes := memlock.NewNodes(3)
	locktest.TestSemaphore(t, func(t testing.TB) lock.Locker {
		l, err := memlock.New(nodes, lock.WithNodeTimeout(2*time.Second)) // a busy machine answers late
		must(t, err)
		t.Cleanup(func() { must(t, l.Close()) })
		return l
	}, locktest.WithSlots(), locktest.WithSlotQueue(), locktest.WithTTL(8*time.Second))
}
