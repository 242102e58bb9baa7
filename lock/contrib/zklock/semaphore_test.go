package zklock_test

import (
	"testing"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
)

func TestSemaphore(t *testing.T) {
	t.Parallel()
	e := ensemble(t, 1)
	locktest.TestSemaphore(t, func(t testing.TB) lock.Locker { return locker(t, e) }, locktest.WithTTL(suiteTTL),
		locktest.WithSlots())
}

func TestResize(t *testing.T) {
	t.Parallel()
	e := ensemble(t, 1)
	locktest.TestResize(t, func(t testing.TB) lock.Locker { return locker(t, e, lock.WithMaxTTL(suiteTTL)) },
		locktest.WithTTL(suiteTTL))
}
