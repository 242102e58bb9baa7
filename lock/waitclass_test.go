package lock

import (
	"fmt"
	"testing"

	"github.com/lockscope/lockscope/lock/driver"
)

func TestClassOfAWait(t *testing.T) {
	without := func(errs ...error) error {
		e := &QuorumError{Nodes: 5, Quorum: 3}
		for _, err := range errs {
			e.Errors = append(e.Errors, &NodeError{Err: err})
		}
		return fmt.Errorf("wrapped: %w", e)
	}
	dead, new := driver.ErrUnreachable, fmt.Errorf("%w: %w", driver.ErrNotSent, driver.ErrQuarantined)
	for _, c := range []struct {
		wait WaitStart
		want WaitClass
	}{
		{WaitStart{Kind: WaitHolder, Blocker: &HeldError{}}, WaitBehindHolder},
		{WaitStart{Kind: WaitHolder}, WaitBehindHolder},
		{WaitStart{Kind: WaitLocal}, WaitBehindHolder},
		{WaitStart{Kind: WaitBackoff, Last: without(dead, dead, dead, dead, dead)}, WaitNoQuorum},
		{WaitStart{Kind: WaitBackoff, Last: without(dead, dead, new)}, WaitQuarantined},
		{WaitStart{Kind: WaitBackoff, Last: without(new, new, new, new, new)}, WaitQuarantined},
		{WaitStart{Kind: WaitBackoff, Last: without(dead, dead, dead, new)}, WaitNoQuorum},
		{WaitStart{Kind: WaitBackoff, Blocker: &HeldError{}, Last: without(dead, dead, dead)}, WaitNoQuorum},
		{WaitStart{Kind: WaitBackoff, Last: without(dead, new)}, WaitBackingOff},
		{WaitStart{Kind: WaitBackoff, Last: without()}, WaitBackingOff},
		{WaitStart{Kind: WaitBackoff, Last: ErrTooLate}, WaitBackingOff},
	} {
		if got := c.wait.Class(); got != c.want {
			t.Errorf("%+v is of class %s, want %s", c.wait, got, c.want)
		}
	}
}
