package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"go.yaml.in/yaml/v3"
)

// suite is a file of tests as promtool reads it, as far as tests are chosen by it.
type suite struct {
	RuleFiles []string `yaml:"rule_files"`
	Interval  string   `yaml:"evaluation_interval"`
	Order     []string `yaml:"group_eval_order"`
	Tests     []test   `yaml:"tests"`
}

type test struct {
	Interval string           `yaml:"interval"`
	Series   []map[string]any `yaml:"input_series"`
	Alerts   []check          `yaml:"alert_rule_test,omitempty"`
	Queries  []check          `yaml:"promql_expr_test,omitempty"`
}

// check is one question and its answer.
type check struct {
	At       model.Duration `yaml:"eval_time"`
	Alert    string         `yaml:"alertname,omitempty"`
	Expr     string         `yaml:"expr,omitempty"`
	Expected []any          `yaml:"exp_alerts,omitempty"`
	Samples  []any          `yaml:"exp_samples,omitempty"`
}

func load(dir string) ([]suite, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil || len(paths) == 0 {
		return nil, fmt.Errorf("no tests in %s: %w", dir, err)
	}
	var all []suite
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		var s suite
		if err := yaml.Unmarshal(text, &s); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, s)
	}
	return all, nil
}

// slow is how long a test must last to be run last, by itself.
const slow = model.Duration(100 * 60e9)

// about returns the tests that ask for one of these alerts, with no other question: first
// the short ones of all files together, then each of the others, the longest last.
func about(suites []suite, alerts []string) []suite {
	var short []suite
	var long []suite
	for _, s := range suites {
		quick := s
		quick.Tests = nil
		for _, t := range s.Tests {
			t.Alerts = slices.DeleteFunc(slices.Clone(t.Alerts), func(c check) bool { return !slices.Contains(alerts, c.Alert) })
			t.Queries = slices.DeleteFunc(slices.Clone(t.Queries), func(c check) bool { return !c.asks(alerts) })
			switch lasts := t.lasts(); {
			case lasts < 0:
			case lasts < slow:
				quick.Tests = append(quick.Tests, t)
			default:
				alone := s
				alone.Tests = []test{t}
				long = append(long, alone)
			}
		}
		if len(quick.Tests) > 0 {
			short = append(short, quick)
		}
	}
	slices.SortStableFunc(long, func(a, b suite) int { return cmp.Compare(a.Tests[0].lasts(), b.Tests[0].lasts()) })
	return append(short, long...)
}

func (c check) asks(alerts []string) bool {
	return slices.ContainsFunc(alerts, func(a string) bool { return strings.Contains(c.Expr, `"`+a+`"`) })
}

// lasts is the time of the last question, or below 0 if there is none.
func (t test) lasts() model.Duration {
	last := model.Duration(-1)
	for _, c := range slices.Concat(t.Alerts, t.Queries) {
		last = max(last, c.At)
	}
	return last
}
