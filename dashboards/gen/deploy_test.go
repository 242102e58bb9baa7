package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-jsonnet"
	"github.com/prometheus/common/model"

	lockscope "github.com/lockscope/lockscope/dashboards"
	"github.com/lockscope/lockscope/dashboards/deploy"
	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
	"github.com/lockscope/lockscope/dashboards/gen/internal/grafana"
)

// TestDeployedIsGenerated compares what the binary makes of the committed files with what is generated with the
// same settings: rules to the byte, of dashboards what does not depend on labels and selectors, which the
// generator leaves to the reader's choice.
func TestDeployedIsGenerated(t *testing.T) {
	fleet, objectives := config.Default(), config.Default()
	objectives.SLO.Availability, objectives.SLO.Wait, objectives.SLO.WithinSeconds = 0.9999, 0.95, 0.1
	fleet.SLO = objectives.SLO
	fleet.Labels, fleet.Selector, fleet.ExporterJob = []string{"cluster", "namespace"}, `env="prod",team=~"a|b"`, "locks"
	fleet.DashboardURL, fleet.RunbookURL = "https://grafana.example.com", "https://wiki/locks"
	fleet.Resources = []config.Resource{{Resource: "nightly:*", Every: model.Duration(24 * time.Hour), Queues: true}, {Resource: "leader", Queues: true}}
	alone := config.Default()
	alone.Labels = []string{}
	second := config.Default()
	second.SLO.WithinSeconds = 1 // a bound with two spellings
	for name, c := range map[string]config.Config{"default": config.Default(), "fleet": fleet, "objectives": objectives, "alone": alone, "second": second} {
		t.Run(name, func(t *testing.T) {
			made, err := generate(c)
			must(t, err)
			have := deployed(t, c)
			for _, f := range made {
				if strings.HasPrefix(f.Path, "grafana/") {
					if c.Selector == "" && len(c.Labels) > 0 {
						sameBoard(t, f.Path, have[f.Path], f.Text)
					}
				} else if string(have[f.Path]) != string(f.Text) {
					t.Errorf("%s: %s", f.Path, difference(string(have[f.Path]), string(f.Text)))
				}
			}
		})
	}
}

// deployed are the files that the binary writes.
func deployed(t *testing.T, c config.Config) map[string][]byte {
	s := deploy.Settings{Selector: c.Selector, ExporterJob: c.ExporterJob, GrafanaURL: c.DashboardURL, RunbookURL: c.RunbookURL,
		Objectives: deploy.Objectives{Availability: c.SLO.Availability, Wait: c.SLO.Wait, Within: c.SLO.WithinSeconds}}
	if !slices.Equal(c.Labels, config.Default().Labels) {
		s.Labels = c.Labels
	}
	for _, r := range c.Resources {
		s.Objectives.Resources = append(s.Objectives.Resources, deploy.Resource{Resource: r.Resource, Every: r.Every, Queues: r.Queues})
	}
	all, err := deploy.Files(lockscope.FS(), s, deploy.Plain)
	must(t, err)
	texts := map[string][]byte{}
	for _, f := range all {
		texts[f.Path] = f.Text
	}
	return texts
}

// sameBoard compares all but the spelling of expressions, steps of colors that are no shares, for the same number may
// be an objective or the threshold of an alert, and how far an axis reaches at least.
func sameBoard(t *testing.T, path string, have, want []byte) {
	t.Helper()
	if a, b := canonical(t, have), canonical(t, want); a != b {
		t.Errorf("%s: %s", path, difference(a, b))
	}
}

func canonical(t *testing.T, text []byte) string {
	var v any
	must(t, json.Unmarshal(text, &v))
	one, err := json.MarshalIndent(spelled(v), "", " ")
	must(t, err)
	return string(one)
}

// spelled removes white space and the order of matchers from expressions.
func spelled(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = spelled(v[i])
		}
	case map[string]any:
		for key, item := range v {
			if n, ok := item.(float64); ok && (key == "axisSoftMax" || key == "value" && (n < 0.9 || n >= 1)) {
				delete(v, key)
				continue
			}
			text, ok := item.(string)
			if ok && slices.Contains([]string{"expr", "query", "definition"}, key) {
				letters := strings.Split(strings.Join(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" (),{}", r) }), " "), " ")
				slices.Sort(letters)
				v[key] = strings.Join(letters, " ")
			} else {
				v[key] = spelled(item)
			}
		}
	}
	return v
}

func difference(have, want string) string {
	a, b := strings.Split(have, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d is\n%s\nnot\n%s", i+1, a[i], b[i])
		}
	}
	return fmt.Sprintf("%d lines, not %d", len(a), len(b))
}

// TestMixin evaluates the mixin and finds every rule and every board in it.
func TestMixin(t *testing.T) {
	dir := t.TempDir()
	all, err := deploy.Files(lockscope.FS(), deploy.Settings{}, deploy.Mixin)
	must(t, err)
	for _, f := range all {
		path := filepath.Join(dir, filepath.FromSlash(f.Path))
		must(t, os.MkdirAll(filepath.Dir(path), 0o750))
		must(t, os.WriteFile(path, f.Text, 0o600))
	}
	program := filepath.Join(dir, "all.jsonnet")
	must(t, os.WriteFile(program, []byte(`local m = import 'mixin.libsonnet';
		{groups: m.prometheusRules.groups + m.prometheusAlerts.groups, boards: m.grafanaDashboards}`), 0o600))
	text, err := jsonnet.MakeVM().EvaluateFile(program)
	must(t, err)
	var have struct {
		Groups []any
		Boards map[string]json.RawMessage
	}
	must(t, json.Unmarshal([]byte(text), &have))
	if names := slices.Sorted(maps.Keys(have.Boards)); len(names) != 4 {
		t.Errorf("boards %v", names)
	}
	for name, board := range have.Boards {
		d, err := grafana.Parse(board)
		must(t, err)
		if len(d.Queries()) == 0 {
			t.Errorf("%s: no queries", name)
		}
	}
	out, err := json.Marshal(map[string]any{"groups": have.Groups}) // YAML as well
	must(t, err)
	path := filepath.Join(dir, "all.yaml")
	must(t, os.WriteFile(path, out, 0o600))
	promtool(t, "check", "rules", path)
	for _, name := range alertNames(t) {
		if !strings.Contains(string(out), `"alert":"`+name+`"`) {
			t.Errorf("no %s", name)
		}
	}
}
