package release

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// workFiles name the released modules, from the root of the repository. Adapters are not in one with the binary: each
// raises what it adapts.
var workFiles = []string{".tools/release/release.work", ".tools/release/contrib.work"}

// released is a module of a release.
type released struct {
	folder string // from the root of the repository, with slashes; . is the root
	path   string
	file   *modfile.File
	root   string
	work   string // the first of workFiles that has it
}

// modules reads the released modules of the repository in root, in the order of workFiles.
func modules(root string) (all []*released, err error) {
	for _, name := range workFiles {
		listed, err := modulesIn(root, name)
		if err != nil {
			return nil, err
		}
		for _, m := range listed {
			if !slices.ContainsFunc(all, func(o *released) bool { return o.path == m.path }) {
				all = append(all, m)
			}
		}
	}
	return all, nil
}

func modulesIn(root, workFile string) ([]*released, error) {
	name := filepath.Join(root, filepath.FromSlash(workFile))
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	work, err := modfile.ParseWork(name, text, nil)
	if err != nil {
		return nil, err
	}
	var all []*released
	for _, use := range work.Use {
		folder, err := filepath.Rel(root, filepath.Join(filepath.Dir(name), use.Path))
		if err != nil {
			return nil, err
		}
		m := &released{folder: filepath.ToSlash(folder), root: root, work: workFile}
		if err := m.read(); err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

func (m *released) dir() string { return filepath.Join(m.root, filepath.FromSlash(m.folder)) }

func (m *released) read() error {
	name := filepath.Join(m.dir(), "go.mod")
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if m.file, err = modfile.Parse(name, text, nil); err != nil {
		return err
	}
	m.path = m.file.Module.Mod.Path
	if len(m.file.Replace) > 0 {
		return fmt.Errorf("%s replaces %s: go install of what is in it would be refused", name,
			m.file.Replace[0].Old.Path)
	}
	return nil
}

// goMod is the module's go.mod, requiring version of all released modules that it requires.
func (m *released) goMod(all []*released, version string) ([]byte, error) {
	file, err := modfile.Parse("go.mod", modfile.Format(m.file.Syntax), nil)
	if err != nil {
		return nil, err
	}
	for _, other := range all {
		if !requires(file, other.path) {
			continue
		}
		if err := file.AddRequire(other.path, version); err != nil {
			return nil, err
		}
	}
	return file.Format()
}

func requires(file *modfile.File, path string) bool {
	for _, r := range file.Require {
		if r.Mod.Path == path {
			return true
		}
	}
	return false
}

// checkVersion refuses what Go would not take for a version of these modules.
func checkVersion(version string) error {
	if !semver.IsValid(version) || semver.Canonical(version) != version || module.CheckPathMajor(version, "") != nil {
		return fmt.Errorf("%q is no version of these modules: like v0.2.0, for their paths end in no major version",
			version)
	}
	return nil
}
