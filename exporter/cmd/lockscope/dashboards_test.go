package main

import (
	"io/fs"
	"os"
	"path/filepath"
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
