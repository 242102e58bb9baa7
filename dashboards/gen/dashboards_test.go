package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/lockscope/lockscope/dashboards/gen/internal/fleet"
	"github.com/lockscope/lockscope/dashboards/gen/internal/lint"
)

// committed is the folder that the generator writes to.
const committed = ".."

// TestCommitted compares what is committed with what the generator makes.
func TestCommitted(t *testing.T) {
	made, err := generate(fleet.Default())
	must(t, err)
	written := map[string]bool{}
	for _, f := range made {
		path := filepath.Join(committed, filepath.FromSlash(f.Path))
		written[path] = true
		text, err := os.ReadFile(path)
		must(t, err)
		if string(text) != string(f.Text) {
			t.Errorf("%s differs from what is generated; run: cd dashboards/gen && go run . -out ..", f.Path)
		}
	}
	for _, pattern := range []string{"rules/*", "grafana/*", "kubernetes/*", "alertmanager/*"} {
		found, err := filepath.Glob(filepath.Join(committed, pattern))
		must(t, err)
		for _, path := range found {
			if !written[path] {
				t.Errorf("%s is not generated: move or remove it", path)
			}
		}
	}
}

// TestDashboards lints them as every variant has them.
func TestDashboards(t *testing.T) {
	for name, f := range variants() {
		t.Run(name, func(t *testing.T) {
			all := files(t, f)
			l := lint.Linter{Catalogue: known(t, f, all), Boards: dashboards(t, all)}
			for _, f := range l.Check(append(lint.Common(), lint.Own()...)...) {
				t.Error(f)
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
