package main

import (
	"iter"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/lockscope/lockscope/dashboards/deploy"
	"github.com/lockscope/lockscope/dashboards/gen/internal/fleet"
	"github.com/lockscope/lockscope/dashboards/gen/internal/promql"
)

var templateLabel = regexp.MustCompile(`(\{\{ with )?\$labels\.(\w+)`)

// templates checks that an alert says what it must, of labels that it has.
func templates(t *testing.T, f fleet.Fleet, r rulefmt.Rule, have []string) {
	for _, name := range []string{"summary", "description", "runbook_url", "dashboard_url"} {
		if strings.TrimSpace(r.Annotations[name]) == "" {
			t.Errorf("%s: no %s", r.Alert, name)
		}
	}
	if s := r.Labels["severity"]; !slices.Contains([]string{"critical", "warning", "none"}, s) {
		t.Errorf("%s: severity %q", r.Alert, s)
	}
	if want := f.RunbookURL + "/" + r.Alert + ".md"; r.Annotations["runbook_url"] != want {
		t.Errorf("%s: runbook_url is %s, want %s", r.Alert, r.Annotations["runbook_url"], want)
	}
	for name, text := range r.Annotations {
		for _, m := range templateLabel.FindAllStringSubmatch(text, -1) {
			// Where a label is asked for first, the result of one side of an "or" may have it.
			if asked := m[1] != "" && strings.Contains(r.Expr, m[2]+")"); !asked && !slices.Contains(have, m[2]) {
				t.Errorf("%s: %s names the label %s; the result has %v", r.Alert, name, m[2], have)
			}
		}
	}
	if !slices.Contains(have, "job") && r.Labels["severity"] != "none" {
		t.Errorf("%s: no label job, by which dashboards choose the alerts they mark", r.Alert)
	}
}

// TestRulesNameWhatExists checks the expressions of rules against the catalogue.
func TestRulesNameWhatExists(t *testing.T) {
	for name, f := range variants() {
		t.Run(name, func(t *testing.T) {
			all := files(t, f)
			catalogue := known(t, f, all)
			for r := range rulesOf(t, all) {
				tree, err := promql.Parse(r.Expr)
				must(t, err)
				have, err := catalogue.Check(tree)
				if err != nil {
					t.Errorf("%s%s: %v", r.Record, r.Alert, err)
				}
				if r.Alert != "" {
					templates(t, f, r, have)
				}
			}
		})
	}
}

func rulesOf(t *testing.T, all []deploy.File) iter.Seq[rulefmt.Rule] {
	return func(yield func(rulefmt.Rule) bool) {
		for _, f := range ruleFiles(t, all) {
			for _, g := range f.Groups {
				for _, r := range g.Rules {
					if !yield(r) {
						return
					}
				}
			}
		}
	}
}

// TestRulesParse reads the files as Prometheus 3 does; promtool does as Prometheus 2.
func TestRulesParse(t *testing.T) {
	for name, v := range variants() {
		for _, f := range files(t, v) {
			if path.Dir(f.Path) != "rules" {
				continue
			}
			_, errs := rulefmt.Parse(f.Text, false, model.LegacyValidation, parser.NewParser(parser.Options{}))
			for _, err := range errs {
				t.Errorf("%s: %s: %v", name, f.Path, err)
			}
		}
	}
}

var (
	recorded = regexp.MustCompile(`\w+:\w+:\w+`)
	raw      = regexp.MustCompile(`\b(distributed_lock_\w+|up|process_start_time_seconds)\b(\{[^}]*\})?`)
)

// TestSelector looks for raw metrics that the configured selector was left out of.
func TestSelector(t *testing.T) {
	for name, f := range variants() {
		for r := range rulesOf(t, files(t, f)) {
			for _, m := range raw.FindAllStringSubmatch(recorded.ReplaceAllString(r.Expr, ""), -1) {
				for matcher := range strings.SplitSeq(f.Selector, ",") {
					if !strings.Contains(m[2], matcher) {
						t.Errorf("%s: %s%s: %s lacks the selector", name, r.Record, r.Alert, m[0])
					}
				}
			}
		}
	}
}

// TestSelectorOfBoards has every selector of every board match what the selector says, if it reads scraped metrics.
func TestSelectorOfBoards(t *testing.T) {
	for name, f := range variants() {
		if f.Selector == "" {
			continue
		}
		for _, d := range dashboards(t, files(t, f)) {
			vars := map[string]string{}
			for _, v := range d.Templating.List {
				vars[v.Name] = "$" + v.Name
			}
			for _, q := range d.Queries() {
				expr, _ := promql.Fill(q.Expr, vars)
				tree, err := promql.Parse(expr)
				must(t, err)
				for _, s := range promql.Selectors(tree) {
					if scraped := !strings.HasPrefix(s.Metric, "ALERTS") && !strings.Contains(s.Metric, ":"); scraped !=
						(s.Matcher("env") == `env="prod"`) {
						t.Errorf("%s: %s: %s: %s", name, d.UID, q.Panel, s.Metric)
					}
				}
			}
		}
	}
}

// TestIntegerBounds: the same bound is "1" or "1.0".
func TestIntegerBounds(t *testing.T) {
	for _, f := range files(t, variants()["other"]) {
		if path.Dir(f.Path) == "grafana" {
			continue
		}
		if m := regexp.MustCompile(`le="[0-9]+(\.0)?"`).FindString(string(f.Text)); m != "" {
			t.Errorf("%s: %s", f.Path, m)
		}
	}
	if got := deploy.Bound(5); got != `le=~"5([.]0)?"` {
		t.Errorf("Bound(5) = %s", got)
	}
	if got := deploy.Bound(.05); got != `le="0.05"` {
		t.Errorf("Bound(.05) = %s", got)
	}
}

// TestFirstFailures: a rate misses the first failure that a counter begins with. Only the counters of acquire begin at 0,
// and not the one of canceled: TestNodeMetrics of instrument.
func TestFirstFailures(t *testing.T) {
	found := 0
	for name, f := range variants() {
		for r := range rulesOf(t, files(t, f)) {
			tree, err := promql.Parse(r.Expr)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range promql.Selectors(tree) {
				if s.Metric != "distributed_lock_node_failures_total" {
					continue
				}
				found++
				for _, m := range s.Matchers {
					if m.Name == "reason" && m.Matches("canceled") || m.Name == "operation" && m.Matches("release") {
						t.Errorf("%s: %s%s reads %s", name, r.Record, r.Alert, m)
					}
				}
				if s.Matcher("operation") == "" || s.Matcher("reason") == "" {
					t.Errorf("%s: %s%s reads failures of all operations, or for all reasons", name, r.Record, r.Alert)
				}
			}
		}
	}
	if found == 0 {
		t.Error("no rule reads failures of nodes")
	}
}
