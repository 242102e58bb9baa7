package locktest_test

import (
	"testing"
)

// TestSimulationClocksStep: a node forgets, and its clock or those of the clients are
// stepped before or while it keeps silent.
func TestSimulationClocksStep(t *testing.T) {
	for _, loss := range []faultKind{rebooted, setRight, wiped} { // with the last, clients' clocks are
		t.Run(string(loss), func(t *testing.T) { mustHold(t, 300, forgetful(loss)) })
	}
}

// forgetful are histories in which nodes forget, and leases last long enough for that to matter.
func forgetful(losses ...faultKind) scope {
	return scope{nodes: []int{3}, alwaysBad: true, losses: losses, resources: 1, holdLong: true}
}

// TestSimulationVouch: people vouch for new nodes, and for nodes that are not, at any time.
func TestSimulationVouch(t *testing.T) {
	s := forgetful(wiped, flushed)
	s.vouched = true
	mustHold(t, 600, s)
}

// TestSimulationReconfigure: three nodes become five or seven, or the other way round, with a node away and
// processes of before still running.
func TestSimulationReconfigure(t *testing.T) {
	s := scope{alwaysBad: true, resources: 1, holdLong: true, noWipes: true, changed: true}
	mustHold(t, 600, s)
}
