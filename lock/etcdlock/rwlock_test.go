package etcdlock_test

import (
	"testing"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
)

func TestRWLock(t *testing.T) {
	c := cluster(t, 1)
	locktest.TestRWLock(t, func(t testing.TB) lock.Locker { return locker(t, c, lock.WithNodeTimeout(nodeTimeout)) },
		locktest.WithTTL(suiteTTL),
		locktest.WithReaderFences())
}
