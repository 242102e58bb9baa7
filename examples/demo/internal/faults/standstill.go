package faults

import (
	"context"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/examples/demo/internal/ledger"
	"github.com/lockscope/lockscope/examples/demo/internal/screen"
)

// noticeable is the shortest time without a grant that is reported as a standstill.
const noticeable = 500 * time.Millisecond

// standstill is the longest time without a grant.
type standstill struct {
	out     *screen.Screen
	last    time.Time // of the latest grant
	longest time.Duration
}

// granted reports a standstill when it ends.
func (s *standstill) granted(g ledger.Grant) {
	gap := g.At.Sub(s.last)
	if gap >= noticeable {
		s.out.Event(screen.Green, "GRANT", "%s to %s, the first grant for %s", g.Lease.Resource(), g.Instance,
			screen.Short(gap))
	}
	s.longest, s.last = max(s.longest, gap), g.At
}

// follow follows grants for so long, or until ctx ends.
func (s *standstill) follow(ctx context.Context, grants <-chan ledger.Grant, length time.Duration) {
	timer := time.NewTimer(length)
	defer timer.Stop()
	for {
		select {
		case g := <-grants:
			s.granted(g)
		case <-timer.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// awaitGrant waits for a grant after those that are known, and returns false if ctx ended first.
func (s *standstill) awaitGrant(ctx context.Context, grants <-chan ledger.Grant) bool {
	for len(grants) > 0 {
		s.granted(<-grants)
	}
	select {
	case g := <-grants:
		s.granted(g)
		return true
	case <-ctx.Done():
		return false
	}
}

// String is what the closing lines say of it: nothing if it was not noticeable.
func (s *standstill) String() string {
	if s.longest < noticeable {
		return ""
	}
	return fmt.Sprintf(", and nothing for %s", screen.Short(s.longest))
}
