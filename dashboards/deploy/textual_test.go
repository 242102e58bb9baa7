package deploy

import (
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/rulefmt"
	"go.yaml.in/yaml/v3"

	"github.com/lockscope/lockscope/dashboards"
)

// TestRulesByText makes of the shipped rules by search and replace what is made of them in syntax trees.
func TestRulesByText(t *testing.T) {
	one := fleet()
	one.Labels = []string{"region"}
	one.Objectives.Within = 5 // a bound with two spellings
	none := fleet()
	none.Labels, none.Selector, none.GrafanaURL = []string{}, "", ""
	for name, s := range map[string]Settings{"nothing": {}, "fleet": fleet(), "one": one, "none": none} {
		t.Run(name, func(t *testing.T) {
			for _, f := range files(t, s, Plain) {
				if !strings.HasPrefix(f.Path, "rules/") {
					continue
				}
				shipped, err := fs.ReadFile(dashboards.FS(), f.Path)
				must(t, err)
				have, want := rulesOf(t, f.Text), rulesOf(t, shipped)
				if added := len(s.Objectives.Resources); f.Path == "rules/recording.yaml" && added > 0 {
					have = have[:len(have)-added] // TestLabelsAndSelector has these
				}
				if len(have) != len(want) {
					t.Fatalf("%s: %d rules, not %d", f.Path, len(have), len(want))
				}
				for i := range want {
					if w := byText(t, s, want[i]); !reflect.DeepEqual(have[i], w) {
						t.Errorf("%s:\n%+v\nis not\n%+v", f.Path, have[i], w)
					}
				}
			}
		})
	}
}

// rulesOf reads all of a file, with expressions on one line.
func rulesOf(t *testing.T, text []byte) (all []rulefmt.Rule) {
	var file struct{ Groups []rulefmt.RuleGroup }
	must(t, yaml.Unmarshal(text, &file))
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			r.Expr = line(t, r.Expr)
			all = append(all, r)
		}
	}
	return all
}

func line(t *testing.T, expr string) string {
	tree, err := parse(expr)
	must(t, err)
	return tree.String()
}

// byText fits a rule to settings whose objectives are those of fleet, but for the limit of waits.
func byText(t *testing.T, s Settings, r rulefmt.Rule) rulefmt.Rule {
	texts := maps.Clone(r.Annotations)
	if r.Alert == "DistributedLockExporterDown" && s.ExporterJob != "" {
		r.Expr += fmt.Sprintf(` or absent(up{job=%q} == 1)`, s.ExporterJob)
	}
	if s.Labels != nil {
		var listed, linked strings.Builder
		for _, l := range s.Labels {
			listed.WriteString(l + ", ")
			linked.WriteString("var-" + l + "={{ $labels." + l + " | urlquery }}&")
		}
		r.Expr = strings.ReplaceAll(r.Expr, "cluster, ", listed.String())
		const shipped = "var-cluster={{ $labels.cluster | urlquery }}&"
		change(texts, "dashboard_url", shipped, linked.String())
	}
	if s.Selector != "" {
		r.Expr = selected(r.Expr, s.Selector)
	}
	if s.RunbookURL != "" {
		change(texts, "runbook_url", ShippedRunbooks, s.RunbookURL)
	}
	if s.GrafanaURL != "" {
		change(texts, "dashboard_url", "/d/", strings.TrimSuffix(s.GrafanaURL, "/")+"/d/")
	}
	if within := s.Objectives.Within; within != 0 {
		r.Expr = promised(r.Expr, r.Labels["slo"], within)
		change(texts, "description", "longer than 0.5 s", fmt.Sprintf("longer than %v s", within),
			"The objective allows 0.1 %", "The objective allows 0.01 %", "The objective allows 1 %",
			"The objective allows 5 %")
	}
	r.Expr, r.Annotations = line(t, r.Expr), texts
	return r
}

func change(texts map[string]string, name string, pairs ...string) {
	if text, ok := texts[name]; ok {
		texts[name] = strings.NewReplacer(pairs...).Replace(text)
	}
}

var rawMetric = regexp.MustCompile(`\b(distributed_lock_\w+|up|process_start_time_seconds)(\{|\b[^:{(\w]|$)`)

func selected(expr, selector string) string {
	return rawMetric.ReplaceAllStringFunc(expr, func(use string) string {
		if name, found := strings.CutSuffix(use, "{"); found {
			return name + "{" + selector + ","
		}
		name := strings.TrimRight(use, " ,)[\n") // without what follows
		return name + "{" + selector + "}" + use[len(name):]
	})
}

func promised(expr, objective string, within float64) string {
	bounds := map[float64]string{0.1: `le="0.1"`, 5: `le=~"5([.]0)?"`}
	expr = strings.ReplaceAll(expr, `le="0.5"`, bounds[within])
	switch objective {
	case "availability":
		return strings.ReplaceAll(expr, " * 0.001 ", " * 0.0001 ")
	case "wait":
		return strings.ReplaceAll(expr, " * 0.01 ", " * 0.05 ")
	}
	return expr
}
