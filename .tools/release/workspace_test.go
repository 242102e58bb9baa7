package release

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
)

const root = "../.."

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func repository(t testing.TB) []*released {
	t.Helper()
	all, err := modules(root)
	must(t, err)
	return all
}

// TestRequirements keeps the client of a system out of the modules of others, and the versions of a release one.
func TestRequirements(t *testing.T) {
	clients := map[string]string{
		"github.com/jackc/": "lock/pglock", "go.etcd.io/": "lock/etcdlock", "github.com/go-zookeeper/": "lock/contrib/zklock",
		"github.com/go-redsync/": "lock/redsynclock", "github.com/go-co-op/": "lock/contrib/gocronlock",
		"github.com/robfig/": "lock/contrib/cronlock", "github.com/pressly/": "lock/contrib/gooselock",
		"github.com/golang-migrate/": "lock/contrib/migratelock", "github.com/caddyserver/": "lock/contrib/certmagiclock",
		"k8s.io/":             "lock/contrib/clientgolock",
		"github.com/hibiken/": "lock/contrib/asynqlock", "github.com/riverqueue/": "lock/contrib/riverlock",
	}
	// The binary and the demo make clients of all of them. River is a client of PostgreSQL, and beside of redsync.
	everyDriver := []string{"exporter/cmd/lockscope", "examples", "lock/contrib/riverlock", "lock/contrib/migration"}
	heavy := []string{"github.com/chromedp/", "modernc.org/", "honnef.co/", "sigs.k8s.io/"}
	kubernetes := "lock/contrib/clientgolock" // nobody requires it who is not in Kubernetes
	versions := make(map[string]bool)
	for _, m := range repository(t) {
		if len(m.file.Require) == 0 {
			t.Errorf("%s requires nothing: the check looks at nothing", m.folder)
		}
		for _, required := range m.file.Require {
			path := required.Mod.Path
			for prefix, folder := range clients {
				if !strings.HasPrefix(path, prefix) || folder == m.folder || slices.Contains(everyDriver, m.folder) {
					continue
				}
				if !required.Indirect || m.folder == "." || m.folder == "dashboards" {
					t.Errorf("%s requires %s: that is for %s", m.folder, path, folder)
				}
			}
			for _, prefix := range heavy {
				if strings.HasPrefix(path, prefix) && m.folder != kubernetes {
					t.Errorf("%s requires %s: that belongs to a module that nobody requires", m.folder, path)
				}
			}
			if strings.HasPrefix(path, "github.com/lockscope/") {
				versions[required.Mod.Version] = true
			}
		}
	}
	if len(versions) != 1 {
		t.Errorf("modules require %v of each other: a release has one version", versions)
	}
}

// TestImportsBetweenModules: of another module only what it exports, which is what stays as it is from one version to
// the next. That goes for modules that are not released as well: what they test is what users get. Two are tests of the
// module around them, apart from it for their size.
func TestImportsBetweenModules(t *testing.T) {
	modules, seen := make(map[string]string), 0 // path by folder
	for _, use := range workspace(t).Use {
		folder := filepath.Join(root, use.Path)
		text, err := os.ReadFile(filepath.Join(folder, "go.mod"))
		must(t, err)
		modules[folder] = modfile.ModulePath(text)
	}
	must(t, walk(func(path string, entry fs.DirEntry) error {
		if filepath.Ext(path) != ".go" {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		here := filepath.Dir(path)
		for modules[here] == "" {
			here = filepath.Dir(here)
		}
		for _, spec := range file.Imports {
			imported := strings.Trim(spec.Path.Value, `"`)
			if !strings.HasPrefix(imported, "github.com/lockscope/lockscope/") ||
				moduleOf(modules, imported) == modules[here] {
				continue
			}
			alone := strings.HasSuffix(modules[here], "/locktest/simulation") || strings.HasSuffix(modules[here], "/browser")
			if seen++; strings.Contains(imported, "/internal/") && !alone {
				t.Errorf("%s imports %s of another module", path, imported)
			}
		}
		return nil
	}))
	if seen == 0 {
		t.Error("no module imports another: the check looks at nothing")
	}
}

// moduleOf is the module with the longest path that path is below.
func moduleOf(modules map[string]string, path string) (found string) {
	for _, module := range modules {
		if strings.HasPrefix(path+"/", module+"/") && len(module) > len(found) {
			found = module
		}
	}
	return found
}

// walk calls visit for the files of the repository, save those of tools.
func walk(visit func(path string, entry fs.DirEntry) error) error {
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && path != root && (entry.Name() == "node_modules" || strings.HasPrefix(entry.Name(), ".")) {
			return filepath.SkipDir
		}
		if entry.IsDir() {
			return nil
		}
		return visit(path, entry)
	})
}

func workspace(t *testing.T) *modfile.WorkFile {
	t.Helper()
	name := filepath.Join(root, "go.work")
	text, err := os.ReadFile(name)
	must(t, err)
	work, err := modfile.ParseWork(name, text, nil)
	must(t, err)
	return work
}

// TestWorkspace finds every module of the repository that has Go in go.work: make test goes by that.
func TestWorkspace(t *testing.T) {
	var listed []string
	for _, use := range workspace(t).Use {
		listed = append(listed, filepath.Clean(use.Path))
	}
	must(t, walk(func(path string, entry fs.DirEntry) error {
		if entry.Name() != "go.mod" {
			return nil
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		if err == nil && folder != filepath.Join("dashboards", "render") && !slices.Contains(listed, folder) {
			t.Errorf("%s is not in go.work: go work use ./%s", path, filepath.ToSlash(folder))
		}
		return err
	}))
	for _, m := range repository(t) {
		if !slices.Contains(listed, filepath.FromSlash(m.folder)) {
			t.Errorf("%s is released, and not in go.work", m.folder)
		}
	}
}

// TestVersionsAreKnown: nobody can download a version of these modules that CHANGELOG.md does not have. A go.mod may also take them from
// their folders.
func TestVersionsAreKnown(t *testing.T) {
	known, seen := readText(t, "CHANGELOG.md"), 0
	must(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() != "go.mod" || strings.Contains(path, "node_modules") {
			return err
		}
		text, err := os.ReadFile(path)
		must(t, err)
		file, err := modfile.Parse(path, text, nil)
		must(t, err)
		for _, r := range file.Require {
			replaced := slices.ContainsFunc(file.Replace, func(p *modfile.Replace) bool {
				return p.Old.Path == r.Mod.Path && p.New.Version == ""
			})
			if !strings.HasPrefix(r.Mod.Path, "github.com/lockscope/") || replaced {
				continue
			}
			seen++
			if !strings.Contains(known, "\n## "+strings.TrimPrefix(r.Mod.Version, "v")+" (") {
				t.Errorf("%s requires %s: CHANGELOG.md has no such version", path, r.Mod)
			}
		}
		return nil
	}))
	if seen == 0 {
		t.Error("no module requires another: the check looks at nothing")
	}
}
