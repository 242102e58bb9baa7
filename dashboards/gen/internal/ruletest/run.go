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
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/lockscope/lockscope/dashboards/gen/internal/rules"
)

// Promtool runs tests with one set of rules after the other, in one process. It returns the indexes of the sets with
// which a test fails, and what promtool prints. That the tests cannot be run is an error.
func Promtool(ctx context.Context, s Suite, sets ...[]rules.Group) (failed []int, says string, err error) {
	dir, err := os.MkdirTemp("", "ruletest-")
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	s.RuleFiles = []string{"rules.yaml"}
	tests, err := yaml.Marshal(s)
	if err != nil {
		return nil, "", err
	}
	args := []string{"test", "rules"}
	for i, groups := range sets {
		path, err := write(filepath.Join(dir, strconv.Itoa(i)), tests, groups)
		if err != nil {
			return nil, "", err
		}
		args = append(args, path)
	}
	cmd := exec.CommandContext(ctx, "promtool", args...)
	cmd.Env = append(os.Environ(), "GOGC=800") // it has little to collect, and is soon done
	out, err := cmd.CombinedOutput()
	if err == nil {
		return nil, "", nil
	}
	says = string(out)
	parts := strings.Split(says, "Unit Testing:")[1:]
	for i, part := range parts {
		if strings.Contains(part, "FAILED:") {
			failed = append(failed, i)
		}
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) || len(failed) == 0 || len(parts) != len(sets) {
		return nil, "", fmt.Errorf("promtool: %w\n%s", err, out)
	}
	return failed, says, nil
}

// write writes tests and their rules into a new folder, and returns the path of the tests.
func write(dir string, tests []byte, groups []rules.Group) (path string, err error) {
	text, err := rules.File{Groups: groups}.YAML()
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "tests.yaml")
	return path, errors.Join(
		os.Mkdir(dir, 0o700),
		os.WriteFile(path, tests, 0o600),
		os.WriteFile(filepath.Join(dir, "rules.yaml"), text, 0o600))
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
	slices.SortStableFunc(all, func(a, b Job) int { return cmp.Compare(b.Cost(), a.Cost()) })
	return all
}

// Cost grows with the number of evaluations.
func (j Job) Cost() (sum float64) {
	for _, t := range j.Tests {
		for _, g := range j.Groups {
			sum += float64(t.Lasts()) * float64(len(g.Rules))
		}
	}
	return sum
}
