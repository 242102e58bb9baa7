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
	if raceEnabled {
		count /= 10
	}
	found, leases, _ := search(t, 1, count, 1, func(seed uint64) (*plan, plant) { return newPlan(seed, s), plant{} })
	for _, out := range found {
		t.Errorf("seed %d:\n%s", out.seed, strings.Join(out.violations, "\n"))
	}
	t.Logf("%d leases", leases)
}
