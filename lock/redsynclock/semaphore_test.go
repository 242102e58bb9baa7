package redsynclock_test

import (
	"errors"
	"testing"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/semaphore"
)

func TestSemaphore(t *testing.T) {
	servers := locktest.Servers(t, 3)
	locktest.TestSemaphore(t, func(t testing.TB) lock.Locker { return locker(t, servers) }, locktest.WithTTL(suiteTTL),
		locktest.WithoutFences())
}

// TestNoNumberOfSlots: the nodes do not know it, and Resize says so.
func TestNoNumberOfSlots(t *testing.T) {
	l := locker(t, locktest.Servers(t, 1))
	if err := semaphore.Resize(t.Context(), l, "pool", 1, 2); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Resize: %v", err)
	}
}
