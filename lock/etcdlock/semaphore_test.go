package etcdlock_test

import (
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
)

func TestSemaphore(t *testing.T) {
	c := cluster(t, 1)
	locktest.TestSemaphore(t, func(t testing.TB) lock.Locker { return locker(t, c, lock.WithNodeTimeout(nodeTimeout)) },
		locktest.WithTTL(suiteTTL),
		locktest.WithSlots())
}

func TestResize(t *testing.T) {
	c := cluster(t, 1)
	locktest.TestResize(t, func(t testing.TB) lock.Locker { return locker(t, c, lock.WithMaxTTL(4*time.Second)) },
		locktest.WithTTL(4*time.Second))
}
