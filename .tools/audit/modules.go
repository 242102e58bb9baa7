package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// workFiles name the released modules.
var workFiles = []string{".tools/release/release.work", ".tools/release/contrib.work"}

// examined is a module of a release, or the one that builds it.
type examined struct {
	folder string // from the root of the repository, with slashes; . is the root
	work   string // one of workFiles that has it; "" for the builder, which requires none of the others
	path   string
}

// name is how the module is called in a table.
func (m *examined) name() string {
	if m.folder == "." {
		return "the root"
	}
	return strings.TrimPrefix(strings.TrimPrefix(m.folder, "lock/"), "contrib/")
}

// releasedModules reads the workspaces below root.
func releasedModules(root string) (all []*examined, err error) {
	for _, name := range workFiles {
		file, err := readWork(root, name)
		if err != nil {
			return nil, err
		}
		for _, use := range file.Use {
			folder := filepath.ToSlash(filepath.Clean(filepath.Join(filepath.Dir(name), use.Path)))
			if slices.ContainsFunc(all, func(m *examined) bool { return m.folder == folder }) {
				continue
			}
			text, err := os.ReadFile(filepath.Join(root, folder, "go.mod"))
			if err != nil {
				return nil, err
			}
			all = append(all, &examined{folder, name, modfile.ModulePath(text)})
		}
	}
	return all, nil
}

func readWork(root, name string) (*modfile.WorkFile, error) {
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		return nil, err
	}
	return modfile.ParseWork(name, text, nil)
}

// alone writes a workspace of the module and nothing else, so that the others raise none of its dependencies. The
// released modules that it requires come from the tree, because they may not be tagged yet.
func (m *examined) alone() (env []string, remove func(), err error) {
	env = append(os.Environ(), "CGO_ENABLED=0")
	if m.work == "" {
		return append(env, "GOWORK=off"), func() {}, nil
	}
	file, err := readWork(root, m.work)
	if err != nil {
		return nil, nil, err
	}
	var text strings.Builder
	top, err := filepath.Abs(root)
	if err != nil {
		return nil, nil, err
	}
	fmt.Fprintf(&text, "go %s\n\nuse %q\n", file.Go.Version, filepath.Join(top, m.folder))
	for _, r := range file.Replace {
		folder := filepath.Join(top, filepath.Dir(m.work), r.New.Path)
		fmt.Fprintf(&text, "replace %s %s => %q\n", r.Old.Path, r.Old.Version, folder)
	}
	dir, err := os.MkdirTemp("", "lockscope-audit-")
	if err != nil {
		return nil, nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) } // the system empties its own folder anyway
	name := filepath.Join(dir, "go.work")
	sums, err := os.ReadFile(filepath.Join(root, m.work+".sum"))
	if err == nil {
		err = errors.Join(os.WriteFile(name, []byte(text.String()), 0o644), os.WriteFile(name+".sum", sums, 0o644))
	}
	if err != nil {
		remove()
		return nil, nil, err
	}
	return append(env, "GOWORK="+name), remove, nil
}

// dependency is a module that packages come from.
type dependency struct {
	Path, Version, Dir string
	Main               bool
}

// systems are those that a release has binaries for.
var systems = []string{"linux", "darwin", "windows"}

// linked returns the modules that packages of m are compiled with on any system, or with its tests as well.
func (m *examined) linked(packages string, tests bool) ([]dependency, error) {
	env, remove, err := m.alone()
	if err != nil {
		return nil, err
	}
	defer remove()
	var all []dependency
	for _, system := range systems {
		args := []string{"list", "-deps", fmt.Sprintf("-test=%v", tests), "-json=Module", packages}
		cmd := exec.Command("go", args...)
		cmd.Dir, cmd.Env = filepath.Join(root, m.folder), append(env, "GOOS="+system)
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("go list in %s for %s: %w%s", m.folder, system, err, stderrOf(err))
		}
		for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
			var p struct{ Module *dependency }
			if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, err
			}
			if p.Module != nil && !strings.HasPrefix(p.Module.Path, "github.com/lockscope/") &&
				!slices.Contains(all, *p.Module) {
				all = append(all, *p.Module)
			}
		}
	}
	return all, nil
}

func stderrOf(err error) string {
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return "\n" + string(failed.Stderr)
	}
	return ""
}
