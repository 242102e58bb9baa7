package redsynclock_test

import (
	"testing"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
)

func TestSemaphore(t *testing.T) {
	servers := locktest.Servers(t, 3)
	locktest.TestSemaphore(t, func(t testing.TB) lock.Locker { return locker(t, servers) }, locktest.WithTTL(suiteTTL),
		locktest.WithoutFences())
}
