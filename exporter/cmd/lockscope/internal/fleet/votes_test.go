package fleet_test

import (
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/fleet"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// TestClassesOfWaits: what the nodes tell of a wait, and nothing else.
func TestClassesOfWaits(t *testing.T) {
	for name, c := range map[string]struct {
		votes fleet.Votes
		held  bool
		want  locktrace.Wait
	}{
		"held":                      {fleet.Votes{2, 3, 0}, true, locktrace.WaitHolder},
		"held, of several sets":     {fleet.Votes{}, true, locktrace.WaitHolder},
		"free, or split votes":      {fleet.Votes{2, 3, 0}, false, ""},
		"of several sets":           {fleet.Votes{}, false, ""},
		"one down":                  {fleet.Votes{2, 2, 0}, true, locktrace.WaitHolder},
		"two of three down":         {fleet.Votes{2, 1, 0}, true, locktrace.WaitNoQuorum},
		"one down, one quarantined": {fleet.Votes{2, 1, 1}, true, locktrace.WaitQuarantined},
		"two of five quarantined":   {fleet.Votes{3, 3, 2}, false, ""},
		"three of five quarantined": {fleet.Votes{3, 2, 3}, false, locktrace.WaitQuarantined},
		"one node down":             {fleet.Votes{1, 0, 0}, false, locktrace.WaitNoQuorum},
	} {
		if got := c.votes.Class(c.held); got != c.want {
			t.Errorf("%s: class %q, want %q", name, got, c.want)
		}
	}
}
