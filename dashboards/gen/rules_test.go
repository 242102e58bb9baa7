package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
	"github.com/lockscope/lockscope/dashboards/gen/internal/rules"
)

var templateLabel = regexp.MustCompile(`(\{\{ with )?\$labels\.(\w+)`)

// templates checks that an alert says what it must, of labels that it has.
func templates(t *testing.T, r rulefmt.Rule, have []string) {
	for _, name := range []string{"summary", "description", "runbook_url", "dashboard_url"} {
		if strings.TrimSpace(r.Annotations[name]) == "" {
			t.Errorf("%s: no %s", r.Alert, name)
		}
	}
	if s := r.Labels["severity"]; !slices.Contains([]string{"critical", "warning", "none"}, s) {
		t.Errorf("%s: severity %q", r.Alert, s)
	}
	if want := config.Default().RunbookURL + "/" + r.Alert + ".md"; r.Annotations["runbook_url"] != want {
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

// TestRulesParse reads the files as Prometheus 3 does; promtool does as Prometheus 2.
func TestRulesParse(t *testing.T) {
	for name, c := range variants() {
		files, err := rules.Files(c)
		must(t, err)
		for _, f := range files {
			text, err := f.YAML()
			must(t, err)
			_, errs := rulefmt.Parse(text, false, model.LegacyValidation, parser.NewParser(parser.Options{}))
			for _, err := range errs {
				t.Errorf("%s: %s: %v", name, f.Name, err)
			}
		}
	}
}

// TestSelector looks for raw metrics that the configured selector was left out of.
func TestSelector(t *testing.T) {
	c := variants()["other"]
	files, err := rules.Files(c)
	must(t, err)
	raw := regexp.MustCompile(`\b(distributed_lock_\w+|up|process_start_time_seconds)\b(\{[^}]*\})?`)
	for _, f := range files {
		for _, g := range f.Groups {
			for _, r := range g.Rules {
				expr := regexp.MustCompile(`\w+:\w+:\w+`).ReplaceAllString(r.Expr, "")
				for _, m := range raw.FindAllStringSubmatch(expr, -1) {
					if !strings.Contains(m[2], `env="prod"`) || !strings.Contains(m[2], `team=~"a|b"`) {
						t.Errorf("%s%s: %s lacks the selector", r.Record, r.Alert, m[0])
					}
				}
			}
		}
	}
}

// TestIntegerBounds: the same bound is "1" or "1.0".
func TestIntegerBounds(t *testing.T) {
	made, err := ruleFiles(variants()["other"])
	must(t, err)
	for _, f := range made {
		if m := regexp.MustCompile(`le="[0-9]+(\.0)?"`).FindString(string(f.Text)); m != "" {
			t.Errorf("%s: %s", f.Path, m)
		}
	}
	if got := config.Bound(5); got != `le=~"5([.]0)?"` {
		t.Errorf("Bound(5) = %s", got)
	}
	if got := config.Bound(.05); got != `le="0.05"` {
		t.Errorf("Bound(.05) = %s", got)
	}
}
