package dashboards

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockscope/lockscope/dashboards"
)

func TestDashboards(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	command(t, "dashboards", "--out", dir).Want(t, 0, "files written to "+dir,
		"the 30-day budget needs --storage.tsdb.retention.time of 35d or more\n")
	for _, name := range shipped(t) {
		want, err := fs.ReadFile(dashboards.FS(), name)
		if err != nil {
			t.Fatal(err)
		}
		if have, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(have) != string(want) {
			t.Errorf("%s: differs, or %v", name, err)
		}
	}
	command(t, "dashboards", "--out", dir).Want(t, 0, "0 files written") // they exist already
}

// TestDashboardsKeepsYourChanges: changed files are overwritten only on request, and no other file is touched.
func TestDashboardsKeepsYourChanges(t *testing.T) {
	dir := t.TempDir()
	mine := filepath.Join(dir, "rules", "alerts.yaml")
	other := filepath.Join(dir, "rules", "mine.yaml")
	for _, file := range []string{mine, other} {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("mine"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	command(t, "dashboards", "--out", dir).Want(t, 2, mine, "--force")
	if text, _ := os.ReadFile(mine); string(text) != "mine" {
		t.Error("overwritten without --force")
	}
	command(t, "dashboards", "--out", dir, "--force").Want(t, 0)
	if text, _ := os.ReadFile(mine); string(text) == "mine" {
		t.Error("not overwritten with --force")
	}
	if text, _ := os.ReadFile(other); string(text) != "mine" {
		t.Error("a file of somebody else was touched")
	}
}

// TestDashboardsLinks: every alert links to the given addresses.
func TestDashboardsLinks(t *testing.T) {
	dir := t.TempDir()
	command(t, "dashboards", "--out", dir, "--grafana-url", "https://graphs.example.com/", "--runbook-url",
		"http://wiki/locks").Want(t, 0)
	for _, name := range []string{"rules/slo.yaml", "rules/alerts.yaml", "kubernetes/prometheusrule.yaml"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(text), "\n") {
			key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			if key == "dashboard_url" && !strings.HasPrefix(value, "https://graphs.example.com/d/lockscope-") ||
				key == "runbook_url" && !strings.HasPrefix(value, "http://wiki/locks/DistributedLock") {
				t.Errorf("%s: %s", name, line)
			}
		}
	}
	for _, wrong := range []string{"grafana", "ftp://x", "https://x/#y", "https://x/{{ y }}", "https://"} {
		command(t, "dashboards", "--out", dir, "--grafana-url", wrong).Want(t, 2, "--grafana-url", "want an address")
	}
}

// TestDashboardsFitted: the flags take effect in the files. dashboards/deploy tests their effect.
func TestDashboardsFitted(t *testing.T) {
	dir := t.TempDir()
	command(t, "dashboards", "--out", dir, "--labels", "cluster, namespace", "--selector", `env="prod"`,
		"--exporter-job",
		"locks", "--objectives", "availability=0.9999,within=0.1").Want(t, 0)
	for name, wants := range map[string][]string{
		"rules/recording.yaml": {`sum by (cluster, namespace, job, resource)`, `{env="prod",outcome="acquired"}`,
			`le="0.1"`},
		"rules/slo.yaml":                 {"14.4 * 0.0001"},
		"rules/alerts.yaml":              {`up{env="prod",job="locks"}`},
		"alertmanager/alertmanager.yml":  {"namespace"},
		"kubernetes/prometheusrule.yaml": {"14.4 * 0.0001", `env="prod"`},
		"grafana/lockscope-nodes.json":   {`namespace=~\"$namespace\"`, `env=\"prod\"`},
	} {
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s: no %s", name, want)
			}
		}
	}
	command(t, "dashboards", "--out", dir, "--force", "--labels", "").Want(t, 0)
	if text, err := os.ReadFile(filepath.Join(dir, "rules", "slo.yaml")); err != nil ||
		strings.Contains(string(text), "cluster") {
		t.Errorf("by cluster without a label, or %v", err)
	}
}

func TestDashboardsFormats(t *testing.T) {
	for format, name := range map[string]string{"configmaps": "kubernetes/lockscope-overview.yaml",
		"mixin": "mixin.libsonnet"} {
		dir := t.TempDir()
		command(t, "dashboards", "--out", dir, "--format", format).Want(t, 0)
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			t.Error(err)
		}
	}
}

func TestDashboardsBadInput(t *testing.T) {
	command(t, "dashboards").Want(t, 2, "--out is missing")
	for says, args := range map[string][]string{
		"--format tar": {"--format", "tar"}, "--labels job": {"--labels", "job"}, "--selector x=": {"--selector", "x="},
		"within=7": {"--objectives", "within=7"},
	} {
		command(t, append([]string{"dashboards", "--out", t.TempDir()}, args...)...).Want(t, 2, says)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	got := command(t, "dashboards", "--out", file)
	got.Want(t, 2, "not a directory")
	if n := strings.Count(got.Err, "\n"); n != 1 {
		t.Errorf("%d lines for one mistake:\n%s", n, got.Err)
	}
}

func shipped(t *testing.T) (names []string) {
	t.Helper()
	err := fs.WalkDir(dashboards.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			names = append(names, name)
		}
		return err
	})
	if err != nil || len(names) < 20 {
		t.Fatalf("%d files, %v", len(names), err)
	}
	return names
}

// TestDashboardsValues: a file has what the flags have, and a flag overrides its field.
func TestDashboardsValues(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "values.yaml")
	if err := os.WriteFile(file, []byte("labels: [zone]\nselector: env=\"dev\"\nslo: {availability: 0.9999, wait: 0.95}\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	command(t, "dashboards", "--out", dir, "--values", file, "--selector", `env="prod"`, "--objectives", "wait=0.9").
		Want(t, 0)
	for name, wants := range map[string][]string{
		"recording": {"sum by (zone, job, resource)", `{env="prod",outcome="acquired"}`}, "slo": {"14.4 * 0.0001", "14.4 * 0.1"},
	} {
		text, err := os.ReadFile(filepath.Join(dir, "rules", name+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s: no %s", name, want)
			}
		}
	}
	command(t, "dashboards", "--out", dir, "--values", filepath.Join(dir, "rules", "slo.yaml")).
		Want(t, 2, "dashboards/gen")
}
