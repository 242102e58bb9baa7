//go:build !race

package locktest_test

import "testing"

// State that is lost while the server goes on is beyond what a client can see in INFO.
// These tests say what happens today: two valid leases. They turn around when the
// proof that a node remembers lies on the node, read with each vote (issue 11).
func TestSimulationOpenStateLostWithoutARestart(t *testing.T) {
	for _, loss := range []faultKind{flushed, borrowed} {
		t.Run(string(loss), func(t *testing.T) {
			mustFind(t, "I1", scope{nodes: []int{3}, alwaysBad: true, losses: []faultKind{loss}, resources: 1, holdLong: true}, plant{})
		})
	}
}
