package migration_test

import (
	"errors"
	"testing"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/migration"
	"github.com/lockscope/lockscope/lock/memlock"
	"github.com/lockscope/lockscope/lock/semaphore"
)

// plain is a Locker without capabilities.
type plain struct{ lock.Locker }

// TestBothIsNoSemaphore: two locks cannot agree on a slot, and this is said. It shares if both locks do.
func TestBothIsNoSemaphore(t *testing.T) {
	able := func() lock.Locker {
		l, err := memlock.New(memlock.NewNodes(1))
		must(t, err)
		t.Cleanup(func() { must(t, l.Close()) })
		return l
	}
	l := able()
	must(t, lock.Shares(migration.Both(l, able())))
	for name, both := range map[string]lock.Locker{
		"old": migration.Both(plain{l}, l), "new": migration.Both(l, plain{l}), "nil": migration.Both(l, nil),
	} {
		if err := lock.Shares(both); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s is plain: %v", name, err)
		}
	}
	s, err := semaphore.New(migration.Both(l, able()), "pool", 2)
	must(t, err)
	if _, err := s.Acquire(t.Context()); !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
}
