package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/model/rulefmt"
	"go.yaml.in/yaml/v3"

	"github.com/lockscope/lockscope/dashboards/gen/internal/promql"
	"github.com/lockscope/lockscope/dashboards/gen/internal/rules"
)

// bench runs tests on mutants: of the rules only those that the tested alerts need, and
// of the tests only those that name these alerts, the short ones first.
type bench struct {
	files  []rules.File
	suites []suite
}

// sound is an error if a test about an alert fails on the rules as they are.
func (b bench) sound(ctx context.Context, alert string) error {
	for _, f := range b.files {
		for _, g := range f.Groups {
			if i := slices.IndexFunc(g.Rules, func(r rulefmt.Rule) bool { return r.Alert == alert }); i >= 0 {
				failed, err := b.notices(ctx, mutant{group: g.Name, index: i, rule: g.Rules[i]})
				if failed {
					err = errors.Join(err, fmt.Errorf("%s: a test fails on the rule as it is: promtool test rules ../tests/*.yaml says which", alert))
				}
				return err
			}
		}
	}
	return nil
}

// notices reports whether a test fails on the mutant.
func (b bench) notices(ctx context.Context, m mutant) (bool, error) {
	dir, err := os.MkdirTemp("", "mutate-")
	if err != nil {
		return false, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	groups := b.with(m)
	alerts := dependents(groups, m.rule)
	if err := save(filepath.Join(dir, "rules.yaml"), rules.File{Groups: needed(groups, alerts)}); err != nil {
		return false, err
	}
	for _, s := range about(b.suites, alerts) {
		noticed, err := promtool(ctx, dir, s)
		if noticed || err != nil {
			return noticed, err
		}
	}
	return false, nil
}

func save(path string, f rules.File) error {
	text, err := f.YAML()
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

// with returns all groups, with the mutant in its place.
func (b bench) with(m mutant) []rules.Group {
	var all []rules.Group
	for _, f := range b.files {
		for _, g := range f.Groups {
			g.Rules = slices.Clone(g.Rules)
			if g.Name == m.group {
				g.Rules[m.index] = m.rule
			}
			all = append(all, g)
		}
	}
	return all
}

// reads lists what an expression reads that other rules record.
func reads(r rulefmt.Rule) []string {
	tree, err := promql.Parse(r.Expr)
	if err != nil {
		return nil
	}
	var names []string
	for _, s := range promql.Selectors(tree) {
		if strings.Contains(s.Metric, ":") {
			names = append(names, s.Metric)
		}
	}
	return names
}

// dependents names the alerts that a rule has to do with.
func dependents(groups []rules.Group, of rulefmt.Rule) []string {
	if of.Alert != "" {
		return []string{of.Alert}
	}
	series, alerts := []string{of.Record}, []string(nil)
	for changed := true; changed; {
		changed = false
		for _, g := range groups {
			for _, r := range g.Rules {
				known := slices.Contains(series, r.Record) || slices.Contains(alerts, r.Alert)
				if !known && slices.ContainsFunc(reads(r), func(n string) bool { return slices.Contains(series, n) }) {
					changed = true
					if r.Alert != "" {
						alerts = append(alerts, r.Alert)
					} else {
						series = append(series, r.Record)
					}
				}
			}
		}
	}
	return alerts
}

// needed leaves out the rules that have nothing to do with these alerts.
func needed(groups []rules.Group, alerts []string) []rules.Group {
	want := map[string]bool{}
	for _, a := range alerts {
		want[a] = true
	}
	for changed := true; changed; {
		changed = false
		for _, g := range groups {
			for _, r := range g.Rules {
				for _, n := range reads(r) {
					if want[name(r)] && !want[n] {
						want[n], changed = true, true
					}
				}
			}
		}
	}
	var left []rules.Group
	for _, g := range groups {
		g.Rules = slices.DeleteFunc(slices.Clone(g.Rules), func(r rulefmt.Rule) bool { return !want[name(r)] })
		if len(g.Rules) > 0 {
			left = append(left, g)
		}
	}
	return left
}

// promtool reports whether the tests fail. That they cannot be run is an error.
func promtool(ctx context.Context, dir string, s suite) (failed bool, err error) {
	s.RuleFiles = []string{"rules.yaml"}
	text, err := yaml.Marshal(s)
	if err != nil {
		return false, err
	}
	path := filepath.Join(dir, "tests.yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return false, err
	}
	out, err := exec.CommandContext(ctx, "promtool", "test", "rules", path).CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return false, nil
	case errors.As(err, &exit) && strings.Contains(string(out), "FAILED:"):
		return true, nil
	default:
		return false, fmt.Errorf("promtool: %w\n%s", err, out)
	}
}
