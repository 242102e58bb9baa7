package lanes

import (
	"errors"
	"testing"

	"github.com/lockscope/lockscope/lock/driver"
)

// replied is the reply to a command.
type replied struct{ err error }

func (r *replied) Reply(_ any, err error) { r.err = err }

// TestACommandThatWasWrittenMayTakeEffect after its timeout. A command that waited for its lane until then never will.
func TestACommandThatWasWrittenMayTakeEffect(t *testing.T) {
	for _, written := range []bool{true, false} {
		r := new(replied)
		(&Command{written: written, To: r}).expire()
		if !errors.Is(r.err, driver.ErrTimeout) || errors.Is(r.err, driver.ErrNotSent) == written {
			t.Errorf("written %v: %v", written, r.err)
		}
	}
}
