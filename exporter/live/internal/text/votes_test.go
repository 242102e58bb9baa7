package text

import (
	"errors"
	"fmt"
	"testing"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
)

// TestVotes names each node that did not vote once.
func TestVotes(t *testing.T) {
	failed := func(node string, err error) *lock.NodeError { return &lock.NodeError{Node: node, Err: err} }
	for want, err := range map[string]error{
		"": errors.New("another"),
		"2 of 5 agreed, 0 refused, 3 did not answer (a, b, c)": &lock.QuorumError{Nodes: 5, Quorum: 3, Granted: 2,
			Errors: []*lock.NodeError{failed("a", driver.ErrTimeout), failed("b", driver.ErrUnreachable),
				failed("c", fmt.Errorf("%w: %w", driver.ErrNotSent, driver.ErrSilent))}},
		"1 of 5 agreed, 1 refused, 1 may not vote (q), 1 failed (x), 1 not waited for": &lock.QuorumError{Nodes: 5,
			Quorum: 3, Granted: 1, Refused: 1, Errors: []*lock.NodeError{failed("q", driver.ErrQuarantined),
				failed("x", errors.New("ERR out of order"))}},
	} {
		if got := Votes(err); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if got := Votes(fmt.Errorf("gave up: %w", err)); got != want {
			t.Errorf("wrapped: %q, want %q", got, want)
		}
	}
}
