package pglock_test

import (
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
)

func TestRWLock(t *testing.T) {
	s := server(t)
	locktest.TestRWLock(t, func(t testing.TB) lock.Locker {
		return locker(t, s, lock.WithNodeTimeout(500*time.Millisecond))
	}, locktest.WithTTL(2*time.Second), locktest.WithReaderFences())
}
