// Package enginetest is shared by the tests of the engine's packages.
package enginetest

import (
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// Clock is a clock that a test moves.
type Clock struct{ Now time.Duration }

// Read returns the time to which the test has moved it.
func (c *Clock) Read() time.Duration { return c.Now }

// WantEveryNode fails the test unless the error counts every node once.
func WantEveryNode(t *testing.T, e *lock.QuorumError) {
	t.Helper()
	sum := 0
	for _, v := range []lock.Verdict{lock.VerdictGranted, lock.VerdictRefused, lock.VerdictRefilled, lock.VerdictFailed,
		lock.VerdictUnheard, lock.VerdictNotAsked} {
		sum += e.Count(v)
	}
	if sum != e.Nodes {
		t.Errorf("%d of %d nodes are accounted for: %v", sum, e.Nodes, e)
	}
}
