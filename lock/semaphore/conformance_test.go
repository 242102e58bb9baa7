package semaphore_test

import (
	"testing"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/memlock"
)

// TestConformance on nodes in memory, in true time.
func TestConformance(t *testing.T) {
	nodes := memlock.NewNodes(3)
	locktest.TestSemaphore(t, func(t testing.TB) lock.Locker {
		l, err := memlock.New(nodes)
		must(t, err)
		t.Cleanup(func() { must(t, l.Close()) })
		return l
	}, locktest.WithSlots(), locktest.WithSlotQueue())
}
