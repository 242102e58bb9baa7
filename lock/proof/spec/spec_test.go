package main

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
			if r.Violation != "" {
				t.Error(story(c, r))
			}
		})
	}
}

var update = flag.Bool("update", false, "write the stories anew")

// Each rule is needed: without it, there is a history that violates an invariant. Each history is a file of stories, so
// that a change of a model is read as a change of what can happen.
func TestEachRuleIsNeeded(t *testing.T) {
	mustFind(t, broken())
}

// What is said not to be covered is not.
func TestUncovered(t *testing.T) {
	mustFind(t, uncovered())
}

// Each file of stories is the history of a case.
func TestEveryStoryHasACase(t *testing.T) {
	var files, want []string
	for _, c := range slices.Concat(broken(), uncovered()) {
		want = append(want, storyFile(c))
	}
	err := filepath.WalkDir("stories", func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, path)
		}
		return err
	})
	slices.Sort(want)
	if err != nil || !slices.Equal(files, want) {
		t.Errorf("stories %q (%v), cases %q", files, err, want)
	}
}

func storyFile(c explore.Case) string {
	name := strings.ReplaceAll(strings.ReplaceAll(c.Name, ",", ""), " ", "-")
	return filepath.Join("stories", c.Model, name+".txt")
}

func mustFind(t *testing.T, cases []explore.Case) {
	for _, c := range cases {
		t.Run(c.Model+"/"+c.Name, func(t *testing.T) {
			t.Parallel()
			r, err := c.Explore(limit)
			if err != nil {
				t.Fatal(err)
			}
			if r.Violation == "" {
				t.Fatalf("no violation was found in %d states", r.States)
			}
			file, told := storyFile(c), story(c, r)
			if *update {
				err = errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(told), 0o644))
			}
			if kept, readErr := os.ReadFile(file); err != nil || readErr != nil || string(kept) != told {
				t.Errorf("%s tells another story (-update writes it anew), or none: %v, %v\n%s", file, err, readErr, told)
			}
		})
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
