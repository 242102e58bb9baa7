package lock_test

import (
	"errors"
	"testing"

	"github.com/lockscope/lockscope/lock"
)

func TestLookEndsACall(t *testing.T) {
	all := []error{lock.ErrHeld, lock.ErrNoQuorum, lock.ErrClosed, errors.New("another")}
	for look, want := range map[lock.Look][]bool{
		lock.LookAlone:  {true, true, true, true},
		lock.LookOn:     {false, true, true, true},
		lock.LookWaits:  {false, false, true, true},
		lock.LookBeside: {false, false, false, false},
	} {
		for i, err := range all {
			if got := look.Ends(err); got != want[i] {
				t.Errorf("look %d, %v: %v, want %v", look, err, got, want[i])
			}
		}
	}
}
