// Package ruletest runs unit tests of rules with those rules only that a test needs: a test
// over days evaluates every rule thousands of times.
package ruletest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/prometheus/common/model"
	"go.yaml.in/yaml/v3"

	"github.com/lockscope/lockscope/dashboards/gen/internal/promql"
)

// Suite is a file of tests as promtool reads it, as far as tests are chosen by it.
type Suite struct {
	File      string   `yaml:"-"`
	RuleFiles []string `yaml:"rule_files"`
	Interval  string   `yaml:"evaluation_interval"`
	Order     []string `yaml:"group_eval_order"`
	Tests     []Test   `yaml:"tests"`
}

// Test is one scenario.
type Test struct {
	Name     string           `yaml:"name,omitempty"`
	Interval string           `yaml:"interval"`
	Series   []map[string]any `yaml:"input_series"`
	Alerts   []Check          `yaml:"alert_rule_test,omitempty"`
	Queries  []Check          `yaml:"promql_expr_test,omitempty"`
}

// Check is one question and its answer.
type Check struct {
	At       model.Duration `yaml:"eval_time"`
	Alert    string         `yaml:"alertname,omitempty"`
	Expr     string         `yaml:"expr,omitempty"`
	Expected []any          `yaml:"exp_alerts,omitempty"`
	Samples  []any          `yaml:"exp_samples,omitempty"`
}

// Load reads all tests of a folder. A field that is not known is an error: it would be lost.
func Load(dir string) ([]Suite, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil || len(paths) == 0 {
		return nil, fmt.Errorf("no tests in %s: %w", dir, err)
	}
	var all []Suite
	for _, path := range paths {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		s := Suite{File: filepath.Base(path)}
		d := yaml.NewDecoder(file)
		d.KnownFields(true)
		err = d.Decode(&s)
		_ = file.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, s)
	}
	return all, nil
}

// Lasts is the time of the last question, or below 0 if there is none.
func (t Test) Lasts() model.Duration {
	last := model.Duration(-1)
	for _, c := range slices.Concat(t.Alerts, t.Queries) {
		last = max(last, c.At)
	}
	return last
}

var askedAlert = regexp.MustCompile(`alertname="(\w+)"`)

// Asks names the alerts and recorded series that a test asks for. The second result is false if a question is
// about whatever there is.
func (t Test) Asks() (names []string, known bool) {
	for _, c := range slices.Concat(t.Alerts, t.Queries) {
		if c.Alert != "" {
			names = append(names, c.Alert)
			continue
		}
		tree, err := promql.Parse(c.Expr)
		if err != nil {
			return nil, false
		}
		for _, s := range promql.Selectors(tree) {
			alert := askedAlert.FindStringSubmatch(s.Matcher("alertname"))
			switch {
			case s.Metric == "ALERTS" && alert == nil, s.Metric == "":
				return nil, false
			case s.Metric == "ALERTS":
				names = append(names, alert[1])
			default:
				names = append(names, s.Metric)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), true
}
