package engine_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/memlock"
)

// TestHeldByWhoMayHaveTheNodesThatFailed: of three nodes one is down, one refuses because the holder has it, and the
// third is free. A caller that is granted only the third is kept out by the holder, not by the node that is down.
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
