package locktrace

import (
	"fmt"
	"testing"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
)

func TestClassOfAWait(t *testing.T) {
	without := func(errs ...error) error {
		e := &lock.QuorumError{Nodes: 5, Quorum: 3}
		for _, err := range errs {
			e.Errors = append(e.Errors, &lock.NodeError{Err: err})
		}
		return fmt.Errorf("wrapped: %w", e)
	}
	dead, new := driver.ErrUnreachable, fmt.Errorf("%w: %w", driver.ErrNotSent, driver.ErrQuarantined)
	for _, c := range []struct {
		wait WaitStart
		want Wait
	}{
		{WaitStart{Kind: WaitHolder, Blocker: &lock.HeldError{}}, WaitHolder},
		{WaitStart{Kind: WaitHolder}, WaitHolder},
		{WaitStart{Kind: WaitLocal}, WaitHolder},
		{WaitStart{Kind: WaitBackingOff, Last: without(dead, dead, dead, dead, dead)}, WaitNoQuorum},
		{WaitStart{Kind: WaitBackingOff, Last: without(dead, dead, new)}, WaitQuarantined},
		{WaitStart{Kind: WaitBackingOff, Last: without(new, new, new, new, new)}, WaitQuarantined},
		{WaitStart{Kind: WaitBackingOff, Last: without(dead, dead, dead, new)}, WaitNoQuorum},
		{WaitStart{Kind: WaitBackingOff, Blocker: &lock.HeldError{}, Last: without(dead, dead, dead)}, WaitNoQuorum},
		{WaitStart{Kind: WaitBackingOff, Last: without(dead, new)}, WaitBackingOff},
		{WaitStart{Kind: WaitBackingOff, Last: without()}, WaitBackingOff},
		{WaitStart{Kind: WaitBackingOff, Last: lock.ErrTooLate}, WaitBackingOff},
	} {
		if got := c.wait.Class(); got != c.want {
			t.Errorf("%+v is of class %s, want %s", c.wait, got, c.want)
		}
	}
}
