package exporter_test

import (
	"encoding/json"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRootModule keeps go install of the binary working, which replace would end, and out of everybody's go.mod what only an
// example or a test in a browser needs.
func TestRootModule(t *testing.T) {
	var mod struct {
		Require []struct{ Path string }
		Replace []struct{ Old struct{ Path string } }
	}
	goJSON(t, &mod, "mod", "edit", "-json", "../go.mod")
	if len(mod.Replace) > 0 {
		t.Errorf("replaced: %+v", mod.Replace)
	}
	if len(mod.Require) == 0 {
		t.Error("nothing is required: the check looks at nothing")
	}
	for _, required := range mod.Require {
		for _, banned := range []string{"github.com/chromedp/", "github.com/jackc/", "modernc.org/", "honnef.co/"} {
			if strings.HasPrefix(required.Path, banned) {
				t.Errorf("go.mod requires %s: that belongs to a module of its own", required.Path)
			}
		}
	}
}

// TestWorkspace finds every module of the repository that has Go in go.work: make test goes by that.
func TestWorkspace(t *testing.T) {
	var work struct{ Use []struct{ DiskPath string } }
	goJSON(t, &work, "work", "edit", "-json", "../go.work")
	var listed []string
	for _, use := range work.Use {
		listed = append(listed, filepath.Clean(use.DiskPath))
	}
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && path != ".." && (entry.Name() == "node_modules" || strings.HasPrefix(entry.Name(), ".")) {
			return filepath.SkipDir
		}
		if entry.Name() != "go.mod" {
			return nil
		}
		folder, err := filepath.Rel("..", filepath.Dir(path))
		if err == nil && folder != filepath.Join("dashboards", "render") && !slices.Contains(listed, folder) {
			t.Errorf("%s is not in go.work: go work use ./%s", path, filepath.ToSlash(folder))
		}
		return err
	})
	must(t, err)
	if len(listed) < 2 {
		t.Errorf("go.work uses %v: the check looks at nothing", listed)
	}
}

// goJSON runs the go command, which writes JSON.
func goJSON(t *testing.T, v any, args ...string) {
	t.Helper()
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		t.Fatalf("go %s: %v", strings.Join(args, " "), err)
	}
	must(t, json.Unmarshal(out, v))
}
