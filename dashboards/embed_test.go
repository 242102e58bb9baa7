package dashboards_test

import (
	"io/fs"
	"os"
	"path/filepath"
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
