package dashboards_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/lockscope/lockscope/dashboards"
)

func TestFS(t *testing.T) {
	err := fstest.TestFS(dashboards.FS(), "README.md",
		"grafana/lockscope-overview.json", "grafana/lockscope-resource.json", "grafana/lockscope-nodes.json",
		"grafana/lockscope-leaks.json", "grafana/lockscope-alerts.json", "grafana/lockscope-resources.json",
		"grafana/lockscope-adoption.json",
		"rules/recording.yaml", "rules/slo.yaml", "rules/alerts.yaml", "kubernetes/prometheusrule.yaml",
		"runbooks/DistributedLockLost.md", "provisioning/prometheus/prometheus.yml",
		"provisioning/grafana/dashboards/lockscope.yaml")
	if err != nil {
		t.Fatal(err)
	}
}

// TestComplete compares the embedded files with those on disk: a pattern of go:embed
// misses a file with a new extension.
func TestComplete(t *testing.T) {
	for _, dir := range []string{"grafana", "rules", "kubernetes", "alertmanager", "runbooks", "provisioning"} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			onDisk, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			embedded, err := fs.ReadFile(dashboards.FS(), filepath.ToSlash(path))
			if err != nil || string(embedded) != string(onDisk) {
				t.Errorf("%s is not embedded as it is: %v", path, err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestRunbooksOfAlerts follows every runbook_url to a page.
func TestRunbooksOfAlerts(t *testing.T) {
	pages := regexp.MustCompile(`runbook_url: .*/(\w+\.md)`)
	count := 0
	for _, name := range []string{"rules/slo.yaml", "rules/alerts.yaml"} {
		text, err := fs.ReadFile(dashboards.FS(), name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range pages.FindAllStringSubmatch(string(text), -1) {
			count++
			if _, err := fs.Stat(dashboards.FS(), "runbooks/"+m[1]); err != nil {
				t.Error(err)
			}
		}
	}
	if count < 18 {
		t.Errorf("%d alerts with a runbook_url", count)
	}
}

func TestDashboardsAreJSON(t *testing.T) {
	paths, err := fs.Glob(dashboards.FS(), "grafana/*.json")
	if err != nil || len(paths) != 7 {
		t.Fatalf("%v, %v", paths, err)
	}
	for _, path := range paths {
		text, err := fs.ReadFile(dashboards.FS(), path)
		if err != nil {
			t.Fatal(err)
		}
		var board struct{ UID string }
		if err := json.Unmarshal(text, &board); err != nil || path != "grafana/"+board.UID+".json" ||
			!strings.HasPrefix(board.UID, "lockscope-") {
			t.Errorf("%s has the uid %q: %v", path, board.UID, err)
		}
	}
}
