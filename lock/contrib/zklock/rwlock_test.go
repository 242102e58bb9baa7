package zklock_test

import (
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
)

func TestRWLock(t *testing.T) {
	t.Parallel()
	e := ensemble(t, 1)
	locktest.TestRWLock(t, func(t testing.TB) lock.Locker {
		return locker(t, e, lock.WithNodeTimeout(time.Second), lock.WithMaxTTL(16*time.Second))
	}, locktest.WithTTL(4*time.Second), locktest.WithReaderFences())
}
