package live_test

import (
	"testing"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
)

// TestReadWriteLocks are what they are without the board.
func TestReadWriteLocks(t *testing.T) {
	locktest.TestRWLockInFakeTime(t, func(t testing.TB) func(testing.TB) lock.Locker {
		board, fakes := newBoard(t), locktest.NewFakes(t, 3)
		return func(t testing.TB) lock.Locker { return wrap(t, board, fakes(t)) }
	})
}
