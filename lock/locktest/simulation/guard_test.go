package simulation

import (
	"testing"
)

// TestSimulationClocksStep: a node forgets, and its clock or the clients' clocks step before or during its quarantine.
func TestSimulationClocksStep(t *testing.T) {
	for _, loss := range []faultKind{rebooted, setRight, wiped} { // the last one steps the clients' clocks
		t.Run(string(loss), func(t *testing.T) { mustHold(t, 300, forgetful(loss)) })
	}
}

// forgetful plans histories in which nodes forget, and in which leases last long enough for that to matter.
func forgetful(losses ...faultKind) scope {
	return scope{nodes: []int{3}, alwaysBad: true, losses: losses, resources: 1, holdLong: true}
}

// TestSimulationVouch: operators vouch for nodes, new or not, at any time.
func TestSimulationVouch(t *testing.T) {
	s := forgetful(wiped, flushed)
	s.vouched = true
	mustHold(t, 600, s)
}

// TestSimulationReconfigure: three nodes become five or seven, or the reverse, with a node down and old processes still
// running.
func TestSimulationReconfigure(t *testing.T) {
	s := scope{alwaysBad: true, resources: 1, holdLong: true, noWipes: true, changed: true}
	mustHold(t, 600, s)
}
