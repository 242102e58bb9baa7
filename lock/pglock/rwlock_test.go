package pglock_test

import (
	"testing"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
)

// TestNoReadWriteLocks: the driver says so before it sends anything.
func TestNoReadWriteLocks(t *testing.T) {
	s := server(t)
	locktest.TestNoRWLock(t, func(t testing.TB) lock.Locker { return locker(t, s) })
}
