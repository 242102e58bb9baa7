package pglock_test

import (
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
)

func TestSemaphore(t *testing.T) {
	s := server(t)
	locktest.TestSemaphore(t, func(t testing.TB) lock.Locker {
		return locker(t, s, lock.WithNodeTimeout(500*time.Millisecond))
	}, locktest.WithTTL(2*time.Second), locktest.WithSlots())
}

func TestResize(t *testing.T) {
	s := server(t)
	locktest.TestResize(t, func(t testing.TB) lock.Locker {
		return locker(t, s, lock.WithNodeTimeout(500*time.Millisecond), lock.WithMaxTTL(2*time.Second))
	}, locktest.WithTTL(2*time.Second))
}
