package main

import (
	"slices"
	"testing"

	"github.com/lockscope/lockscope/lock/proof/spec/internal/explore"
)

// limit bounds every exploration of a test: one that needs more fails.
const limit = 1_000_000

// With all rules on, no state violates an invariant. The race detector, which finds
// nothing in a single goroutine and makes it take ten times as long, sees one of each model.
func TestHeld(t *testing.T) {
	quick, _ := held()
	seen := make(map[string]bool)
	for _, c := range quick {
		if raceEnabled && seen[c.Model] {
			continue
		}
		seen[c.Model] = true
		t.Run(c.Model+"/"+c.Name, func(t *testing.T) {
			t.Parallel()
			r, err := c.Explore(limit)
			if err != nil {
				t.Fatal(err)
			}
			tell(t, r)
			if r.Violation != "" {
				t.Error("violated")
			}
		})
	}
}

// Each rule is needed: without it, there is a history that violates an invariant.
func TestEachRuleIsNeeded(t *testing.T) {
	mustFind(t, broken())
}

// What is said not to be covered is not.
func TestUncovered(t *testing.T) {
	mustFind(t, uncovered())
}

func mustFind(t *testing.T, cases []explore.Case) {
	for _, c := range cases {
		t.Run(c.Model+"/"+c.Name, func(t *testing.T) {
			t.Parallel()
			r, err := c.Explore(limit)
			if err != nil {
				t.Fatal(err)
			}
			tell(t, r)
			if r.Violation == "" {
				t.Error("no violation was found")
			}
		})
	}
}

func tell(t *testing.T, r explore.Result) {
	t.Logf("%d states, %d transitions, depth %d: %s", r.States, r.Transitions, r.Depth, r.Violation)
	for i, step := range r.Trace {
		t.Logf("%2d %s", i+1, step)
	}
}

// Every field of the rules is switched off somewhere, alone but where that is said.
func TestEveryRuleIsSwitchedOff(t *testing.T) {
	var off []string
	for _, c := range broken() {
		off = append(off, c.Model+" "+c.Name)
	}
	for _, m := range models() {
		c := m.Quick[0]
		if len(c.Rules) == 0 {
			t.Errorf("%s has no rules", c.Model)
		}
		for _, rule := range c.Rules {
			if !slices.Contains(off, c.Model+" "+rule) {
				t.Errorf("%s: no test switches %s off", c.Model, rule)
			}
		}
	}
}
