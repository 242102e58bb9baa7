package rwlock_test

import (
	"fmt"
	"testing"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/memlock"
)

func TestConformance(t *testing.T) {
	for _, n := range []int{1, 3} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			locktest.TestRWLockInFakeTime(t, func(testing.TB) func(testing.TB) lock.Locker {
				nodes := memlock.NewNodes(n)
				return func(t testing.TB) lock.Locker {
					l, err := memlock.New(nodes)
					must(t, err)
					t.Cleanup(func() { must(t, l.Close()) })
					return l
				}
			})
		})
	}
}
