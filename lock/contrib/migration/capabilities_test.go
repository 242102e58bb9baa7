package migration_test

import (
	"errors"
	"testing"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/migration"
	"github.com/lockscope/lockscope/lock/memlock"
	"github.com/lockscope/lockscope/lock/semaphore"
)

// TestBothIsNoSemaphore: two locks cannot agree on a slot, and this is said.
func TestBothIsNoSemaphore(t *testing.T) {
	able := func() lock.Locker {
		l, err := memlock.New(memlock.NewNodes(1))
		must(t, err)
		t.Cleanup(func() { must(t, l.Close()) })
		return l
	}
	l := able()
	s, err := semaphore.New(migration.Both(l, able()), "pool", 2)
	must(t, err)
	if _, err := s.Acquire(t.Context()); !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
}
