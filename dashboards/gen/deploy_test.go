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

	"github.com/google/go-jsonnet"

	lockscope "github.com/lockscope/lockscope/dashboards"
	"github.com/lockscope/lockscope/dashboards/deploy"
	"github.com/lockscope/lockscope/dashboards/gen/internal/grafana"
)

// TestDeployedIsGenerated compares what `lockscope dashboards` makes of the committed files with what is made
// here for the same fleet: the two differ only if a file was committed that is not what is made.
func TestDeployedIsGenerated(t *testing.T) {
	for name, f := range deployed() {
		t.Run(name, func(t *testing.T) {
			all, err := deploy.Files(lockscope.FS(), f.Settings(), deploy.Plain)
			must(t, err)
			have := map[string]string{}
			for _, f := range all {
				have[f.Path] = string(f.Text)
			}
			for _, f := range files(t, f) {
				if have[f.Path] != string(f.Text) {
					t.Errorf("%s: %s", f.Path, difference(have[f.Path], string(f.Text)))
				}
			}
		})
	}
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
	if names := slices.Sorted(maps.Keys(have.Boards)); len(names) != 7 {
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
