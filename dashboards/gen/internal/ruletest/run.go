package ruletest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/lockscope/lockscope/dashboards/gen/internal/rules"
)

// Write writes rules into a directory, for Promtool.
func Write(dir string, groups []rules.Group) error {
	text, err := rules.File{Groups: groups}.YAML()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "rules.yaml"), text, 0o600)
}

// Promtool runs tests with the rules of a directory and reports whether they fail, with what
// promtool says. That they cannot be run is an error.
func Promtool(ctx context.Context, dir string, s Suite) (failed bool, says string, err error) {
	s.RuleFiles = []string{"rules.yaml"}
	text, err := yaml.Marshal(s)
	if err != nil {
		return false, "", err
	}
	path := filepath.Join(dir, "tests.yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return false, "", err
	}
	out, err := exec.CommandContext(ctx, "promtool", "test", "rules", path).CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return false, "", nil
	case errors.As(err, &exit) && strings.Contains(string(out), "FAILED:"):
		return true, string(out), nil
	default:
		return false, "", fmt.Errorf("promtool: %w\n%s", err, out)
	}
}

// Job is tests that need the same rules.
type Job struct {
	Suite
	Groups []rules.Group
}

// Jobs splits files of tests by the rules that their tests need, those that last for long first. Together they are
// all tests.
func Jobs(suites []Suite, groups []rules.Group) []Job {
	var all []Job
	for _, s := range suites {
		by := map[string]int{}
		for _, t := range s.Tests {
			names, known := t.Asks()
			needed, key := groups, "everything"
			if known {
				needed, key = Needed(groups, names), strings.Join(names, " ")
			}
			i, ok := by[key]
			if !ok {
				i = len(all)
				by[key] = i
				one := s
				one.Tests = nil
				all = append(all, Job{one, needed})
			}
			all[i].Tests = append(all[i].Tests, t)
		}
	}
	slices.SortStableFunc(all, func(a, b Job) int { return cmp.Compare(b.cost(), a.cost()) })
	return all
}

// cost grows with the number of evaluations.
func (j Job) cost() (sum float64) {
	for _, t := range j.Tests {
		for _, g := range j.Groups {
			sum += float64(t.Lasts()) * float64(len(g.Rules))
		}
	}
	return sum
}
