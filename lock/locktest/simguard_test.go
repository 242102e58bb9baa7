package locktest_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/lockscope/lockscope/lock/locktest"
)

// Defects the guard once had, as they show in histories. Each was seen on real
// servers; the simulation of that time could not have found them, for its servers
// knew by themselves when they may vote.
var guardFlaws = map[string]struct {
	scope  scope
	guards func(*locktest.Guards)
	seeds  []uint64 // of histories that went wrong
}{
	// uptime_in_seconds was taken for the age, and can be a second more.
	"uptime believed to the second": {
		scope{nodes: []int{3}, alwaysBad: true, losses: []faultKind{wiped}, resources: 1, holdLong: true, close: true},
		func(g *locktest.Guards) {
			g.Misread = func(info string) string {
				return uptimeLine.ReplaceAllStringFunc(info, func(line string) string {
					s, _ := strconv.Atoi(strings.TrimPrefix(line, "uptime_in_seconds:"))
					return fmt.Sprintf("uptime_in_seconds:%d", s+1)
				})
			}
		}, []uint64{2269},
	},
	// An appendonly file that is always synced was a proof that nothing was forgotten.
	"appendonly now, so nothing was lost": {
		scope{nodes: []int{3}, alwaysBad: true, losses: []faultKind{wiped}, resources: 1},
		func(g *locktest.Guards) {
			g.Waive = func(info string) bool { return strings.Contains(info, "aof_enabled:1") }
		}, []uint64{125},
	},
	// A server was last seen when a connection to it was made.
	"seen on new connections only": {
		scope{nodes: []int{3}, alwaysBad: true, losses: []faultKind{rebooted}, resources: 1},
		func(g *locktest.Guards) { g.Deaf = true }, []uint64{208},
	},
}

var uptimeLine = regexp.MustCompile(`uptime_in_seconds:\d+`)

// TestSimulationGuardSeeds replays the histories that went wrong: with the defect they
// still do, and with the guard as it is now they do not.
func TestSimulationGuardSeeds(t *testing.T) {
	for name, flaw := range guardFlaws {
		t.Run(name, func(t *testing.T) {
			for _, seed := range flaw.seeds {
				if !violates(t, newPlan(seed, flaw.scope), plant{guards: flaw.guards}) {
					t.Errorf("seed %d with the defect: nothing violated", seed)
				}
				if violates(t, newPlan(seed, flaw.scope), plant{}) {
					t.Errorf("seed %d: two valid leases", seed)
				}
			}
		})
	}
}

// violates runs a history a few times, for the order of what happens at one instant
// is not of its seed, and reports whether two leases were valid at a time.
func violates(t *testing.T, p *plan, pl plant) bool {
	const tries = 10
	for range tries {
		for _, v := range guarded(t, p, pl).violations {
			if strings.Contains(v, ": I1 ") {
				return true
			}
		}
	}
	return false
}
