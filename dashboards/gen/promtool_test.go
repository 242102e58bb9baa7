package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
	"github.com/lockscope/lockscope/dashboards/gen/internal/promql"
	"github.com/lockscope/lockscope/dashboards/gen/internal/rules"
	"github.com/lockscope/lockscope/dashboards/gen/internal/ruletest"
)

// promtool runs Prometheus's own checker. Debian's is of Prometheus 2.
func promtool(t *testing.T, args ...string) {
	t.Helper()
	path, err := exec.LookPath("promtool")
	if err != nil {
		t.Fatalf("%v: install it with: make deps, or on Debian or Ubuntu: sudo apt-get install prometheus", err)
	}
	if out, err := exec.CommandContext(t.Context(), path, args...).CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func glob(t *testing.T, pattern string) []string {
	paths, err := filepath.Glob(filepath.Join(committed, filepath.FromSlash(pattern)))
	must(t, err)
	if len(paths) == 0 {
		t.Fatalf("no %s", pattern)
	}
	return paths
}

func TestPromtoolCheckRules(t *testing.T) {
	promtool(t, append([]string{"check", "rules", "--lint=all", "--lint-fatal"}, glob(t, "rules/*.yaml")...)...)
	for name, c := range variants() {
		dir := t.TempDir()
		must(t, write(c, dir))
		for _, f := range []string{"recording", "slo", "alerts"} {
			promtool(t, "check", "rules", "--lint=all", "--lint-fatal", filepath.Join(dir, "rules", f+".yaml"))
		}
		t.Log(name)
	}
}

// TestPromtoolTestRules runs the unit tests of the alerts, each with the rules it needs.
func TestPromtoolTestRules(t *testing.T) {
	suites, err := ruletest.Load(filepath.Join(committed, "tests"))
	must(t, err)
	files, err := rules.Files(config.Default()) // the committed ones: see TestCommitted
	must(t, err)
	var groups []rules.Group
	for _, f := range files {
		groups = append(groups, f.Groups...)
	}
	tests := 0
	for _, j := range ruletest.Jobs(suites, groups) {
		tests += len(j.Tests)
		t.Run(j.File, func(t *testing.T) {
			t.Parallel()
			if _, says, err := ruletest.Promtool(t.Context(), j.Suite, j.Groups); says != "" || err != nil {
				t.Error(says, err)
			}
		})
	}
	for _, s := range suites {
		tests -= len(s.Tests)
	}
	if tests != 0 {
		t.Errorf("%d tests more than there are", tests)
	}
}

// TestProvisioning checks the example of Prometheus's configuration.
func TestProvisioning(t *testing.T) {
	promtool(t, "check", "config", filepath.Join(committed, "provisioning", "prometheus", "prometheus.yml"))
	for _, path := range glob(t, "provisioning/grafana/*/*.yaml") {
		var f map[string]any
		decode(t, path, &f)
		if f["apiVersion"] != 1 {
			t.Errorf("%s: apiVersion %v", path, f["apiVersion"])
		}
	}
}

// TestManifest compares the rules of the PrometheusRule with those of the plain files.
func TestManifest(t *testing.T) {
	type groups []map[string]any
	var plain groups
	for _, name := range []string{"recording", "slo", "alerts"} {
		var f struct{ Groups groups }
		decode(t, filepath.Join(committed, "rules", name+".yaml"), &f)
		plain = append(plain, f.Groups...)
	}
	var manifest struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string
		Spec       struct{ Groups groups }
	}
	decode(t, filepath.Join(committed, "kubernetes", "prometheusrule.yaml"), &manifest)
	if manifest.APIVersion != "monitoring.coreos.com/v1" || manifest.Kind != "PrometheusRule" {
		t.Errorf("it is a %s of %s", manifest.Kind, manifest.APIVersion)
	}
	if a, b := fmt.Sprint(manifest.Spec.Groups), fmt.Sprint(plain); a != b {
		t.Error("the manifest has other rules than the plain files")
	}
}

func decode(t *testing.T, path string, v any) {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	must(t, yaml.Unmarshal(text, v))
}

// TestPanelsOnPrometheus2 gives every query of the dashboards to the parser of
// Prometheus 2, as a recording rule.
func TestPanelsOnPrometheus2(t *testing.T) {
	for name, f := range variants() {
		t.Run(name, func(t *testing.T) {
			type rule struct{ Record, Expr string }
			var all []rule
			for _, d := range dashboards(t, files(t, f)) {
				vars := map[string]string{}
				for _, v := range d.Templating.List {
					vars[v.Name] = ".+"
				}
				for _, q := range d.Queries() {
					expr, unknown := promql.Fill(q.Expr, vars)
					if len(unknown) > 0 {
						t.Errorf("%s: %s: unknown variables %v", q.Dashboard, q.Panel, unknown)
					}
					all = append(all, rule{fmt.Sprintf("panel:%d", len(all)), expr})
				}
			}
			groups := []any{map[string]any{"name": "panels", "rules": all}}
			text, err := yaml.Marshal(map[string]any{"groups": groups})
			must(t, err)
			path := filepath.Join(t.TempDir(), "panels.yaml")
			must(t, os.WriteFile(path, text, 0o600))
			promtool(t, "check", "rules", path)
			t.Logf("%d queries", len(all))
		})
	}
}

// suite is a file of rule tests, as far as coverage needs it.
type suite struct {
	Tests []struct {
		Alerts []struct {
			Name     string `yaml:"alertname"`
			Expected []any  `yaml:"exp_alerts"`
		} `yaml:"alert_rule_test"`
		Queries []struct {
			Expr     string
			Expected []any `yaml:"exp_samples"`
		} `yaml:"promql_expr_test"`
	}
}

var asked = regexp.MustCompile(`ALERTS\{alertname="(\w+)"`)

// TestEveryAlertIsTested wants each alert to fire in one test and to stay silent in another;
// what fires always cannot stay silent.
func TestEveryAlertIsTested(t *testing.T) {
	fires, silent := map[string]bool{}, map[string]bool{"DistributedLockWatchdog": true}
	told := func(name string, expected []any) {
		fires[name] = fires[name] || len(expected) > 0
		silent[name] = silent[name] || len(expected) == 0
	}
	for _, path := range glob(t, "tests/*.yaml") {
		var s suite
		decode(t, path, &s)
		for _, test := range s.Tests {
			for _, a := range test.Alerts {
				told(a.Name, a.Expected)
			}
			for _, q := range test.Queries {
				if m := asked.FindStringSubmatch(q.Expr); m != nil {
					told(m[1], q.Expected)
				}
			}
		}
	}
	for _, name := range alertNames(t) {
		if !fires[name] || !silent[name] {
			t.Errorf("%s: tested to fire: %v, to stay silent: %v", name, fires[name], silent[name])
		}
	}
}
