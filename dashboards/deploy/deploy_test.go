package deploy

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockscope/lockscope/dashboards"
)

// fleet is a fleet with everything changed.
func fleet() Settings {
	return Settings{
		Labels: []string{"cluster", "namespace"}, Selector: `env="prod",team=~"a|b"`, ExporterJob: "locks",
		GrafanaURL: "https://graphs.example.com/", RunbookURL: "http://wiki/locks",
		Objectives: Objectives{Availability: 0.9999, Wait: 0.95, Within: 0.1,
			Resources: []Resource{{Resource: "report", Every: 86400e9}, {Resource: "leader", Queues: true}}},
	}
}

// TestUnchanged has the zero value write what is shipped.
func TestUnchanged(t *testing.T) {
	for _, f := range files(t, Settings{}, Plain) {
		want, err := fs.ReadFile(dashboards.FS(), f.Path)
		must(t, err)
		if string(f.Text) != string(want) {
			t.Errorf("%s was changed", f.Path)
		}
	}
}

// TestLabelsAndSelector has promtool evaluate the rules: one of two namespaces is in trouble, and one of
// another environment.
func TestLabelsAndSelector(t *testing.T) {
	dir := write(t, files(t, fleet(), Plain))
	test := filepath.Join(dir, "test.yaml")
	must(t, os.WriteFile(test, []byte(`
rule_files: [rules/recording.yaml, rules/alerts.yaml]
evaluation_interval: 1m
tests:
  - interval: 1m
    input_series:
      - series: >-
          distributed_lock_scanner_deadlocks{job="l",instance="1",cluster="c",namespace="n",env="prod",team="a"}
        values: '1x20'
      - series: >-
          distributed_lock_scanner_deadlocks{job="l",instance="2",cluster="c",namespace="calm",env="prod",team="a"}
        values: '0x20'
      - series: >-
          distributed_lock_scanner_deadlocks{job="l",instance="3",cluster="c",namespace="test",env="dev",team="a"}
        values: '1x20'
      - series: 'up{job="locks",instance="1",cluster="c",namespace="n",env="dev",team="a"}'
        values: '1x20'
    promql_expr_test:
      - eval_time: 10m
        expr: |
          count by (alertname, cluster, namespace, job) (
            ALERTS{alertstate="firing",alertname!="DistributedLockWatchdog"}
          )
        exp_samples:
          - {labels: '{alertname="DistributedLockDeadlock",cluster="c",namespace="n",job="l"}', value: 1}
          - {labels: '{alertname="DistributedLockExporterDown"}', value: 1}
      - eval_time: 10m
        expr: resource:distributed_lock_expected_interval:seconds
        exp_samples: [{labels: 'resource:distributed_lock_expected_interval:seconds{resource="report"}', value: 86400}]
`), 0o600))
	promtool(t, "test", "rules", test)
}

// TestLinks has every alert, and every board, link to the addresses that were given.
func TestLinks(t *testing.T) {
	for _, f := range files(t, fleet(), Plain) {
		if strings.HasPrefix(f.Path, "grafana/") && strings.Contains(string(f.Text), ShippedRunbooks) {
			t.Errorf("%s links to the shipped runbooks", f.Path)
		}
		if !strings.HasPrefix(f.Path, "rules/") && !strings.HasPrefix(f.Path, "kubernetes/") {
			continue
		}
		for line := range strings.Lines(string(f.Text)) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			if key == "dashboard_url" && !strings.HasPrefix(value, "https://graphs.example.com/d/lockscope-") ||
				key == "runbook_url" && !strings.HasPrefix(value, "http://wiki/locks/DistributedLock") {
				t.Errorf("%s: %s", f.Path, line)
			}
		}
	}
}

func TestRefused(t *testing.T) {
	for says, s := range map[string]Settings{
		"--labels job":           {Labels: []string{"job"}},
		"--labels a-b":           {Labels: []string{"a-b"}},
		"--selector env=prod":    {Selector: "env=prod"},
		`--selector a="b",`:      {Selector: `a="b",`},
		`--selector a="b"} or m`: {Selector: `a="b"} or m{c="d"`},
		"--grafana-url x":        {GrafanaURL: "x"},
		"availability=2":         {Objectives: Objectives{Availability: 2}},
		"within=0.3":             {Objectives: Objectives{Within: 0.3}},
		"resource 1 report":      {Objectives: Objectives{Resources: []Resource{{Resource: "report"}}}},
	} {
		if _, err := Files(dashboards.FS(), s, Plain); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: %v, want %s", s, err, says)
		}
	}
	_, err := Files(dashboards.FS(), Settings{}, "tar")
	if err == nil || !strings.Contains(err.Error(), "want files, configmaps or mixin") {
		t.Errorf("--format tar: %v", err)
	}
}

func files(t *testing.T, s Settings, f Format) []File {
	t.Helper()
	made, err := Files(dashboards.FS(), s, f)
	must(t, err)
	if len(made) < 20 {
		t.Fatalf("%d files", len(made))
	}
	return made
}

func write(t *testing.T, all []File) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range all {
		path := filepath.Join(dir, filepath.FromSlash(f.Path))
		must(t, os.MkdirAll(filepath.Dir(path), 0o750))
		must(t, os.WriteFile(path, f.Text, 0o600))
	}
	return dir
}

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

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
