package outcome

import (
	"fmt"
	"testing"

	"github.com/lockscope/lockscope/lock/driver"
)

// TestNodesThatMayNotVote are counted, shown and described as such.
func TestNodesThatMayNotVote(t *testing.T) {
	for _, err := range []error{
		driver.ErrQuarantined, driver.ErrDuplicate, driver.ErrReplica, driver.ErrEvicting, driver.ErrUnexamined,
		driver.ErrFenceCounter,
	} {
		wrapped := fmt.Errorf("%w: %q", err, "lockscope:fence:{7}")
		if OfNode(wrapped) != NodeGuard || Describe(wrapped) != err.Error() {
			t.Errorf("%v is counted as %v and described as %q", wrapped, OfNode(wrapped), Describe(wrapped))
		}
	}
}
