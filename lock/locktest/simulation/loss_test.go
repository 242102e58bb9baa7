package simulation

import (
	"strings"
	"testing"
)

// TestSimulationStateLostWithoutARestart: a client cannot see in INFO that state was lost while the server went on. The
// marker is lost with the state.
func TestSimulationStateLostWithoutARestart(t *testing.T) {
	for _, loss := range []faultKind{flushed, borrowed} {
		t.Run(string(loss), func(t *testing.T) {
			mustHold(t, 400, scope{nodes: []int{3}, alwaysBad: true, losses: []faultKind{loss}, resources: 1,
				holdLong: true})
		})
	}
}

// mustHold runs histories and requires that none violates an invariant.
func mustHold(t *testing.T, count int, s scope) {
	t.Helper()
	switch {
	case *historiesFlag > 0:
		count = *historiesFlag
	case raceEnabled:
		count /= 10
	}
	make := func(seed uint64) (*plan, plant) { return newPlan(seed, s), plant{} }
	if *seedFlag != 0 && *historiesFlag == 0 {
		replay(t, *seedFlag, make)
		return
	}
	found, leases, _ := search(t, max(*seedFlag, 1), count, 1, make)
	for _, out := range found {
		t.Errorf("seed %d:\n%s\nreplay: cd lock/locktest/simulation && go test -run '^%s$' -v -args -seed=%d",
			out.seed, strings.Join(out.violations, "\n"), t.Name(), out.seed)
	}
	t.Logf("%d leases", leases)
}
