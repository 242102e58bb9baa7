package engine_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/memlock"
)

// TestHeldByWhoMayHaveTheNodesThatFailed: the holder has a node that is down and one that refuses, and the third is
// free. Who is granted that one alone is kept from the lock by the holder, not by the node that is down.
func TestHeldByWhoMayHaveTheNodesThatFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := memlock.NewNodes(3)
		nodes[2].Deny(driver.ErrUnreachable)
		holder, err := newMemLocker(t, nodes).Acquire(t.Context(), "job", lock.NoRenew())
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		nodes.Recover()
		nodes[0].Deny(driver.ErrUnreachable)
		if _, err := newMemLocker(t, nodes).Acquire(t.Context(), "job", lock.NoWait()); !errors.Is(err, lock.ErrHeld) {
			t.Errorf("%v, want ErrHeld", err)
		}
		nodes.Recover()
		if err := holder.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
