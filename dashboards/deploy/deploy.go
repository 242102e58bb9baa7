// Package deploy adapts the shipped rules and dashboards to a fleet: to its labels, objectives and
// addresses. It returns them as plain files, as Kubernetes manifests or as a mixin.
//
// It replaces the values that the generator writes in one way only, and does not parse expressions. It is the only
// code that applies these settings: the module in dashboards/gen generates files with other windows and thresholds,
// and then calls this package. The tests of that module parse what is made.
package deploy

import (
	"fmt"
	"io/fs"
	"path"
)

// Files returns the files of a deployment, sorted by path. The folders are those of dashboards.FS.
// A file that no setting affects is returned unchanged.
func Files(shipped fs.FS, s Settings, f Format) ([]File, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	var all []File
	err := fs.WalkDir(shipped, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(shipped, name)
		if err != nil {
			return err
		}
		fitted, err := s.Fit(File{name, text})
		all = append(all, fitted)
		return err
	})
	if err != nil {
		return nil, err
	}
	return f.pack(all)
}

// Fit applies the settings to one file, according to its folder. Unlike Files, it does not check the
// settings: see Check.
func (s Settings) Fit(f File) (File, error) {
	var err error
	switch dir := path.Dir(f.Path); {
	case dir == "rules" || dir == "kubernetes":
		f.Text = []byte(s.rules(f.Path, string(f.Text)))
	case dir == "alertmanager":
		f.Text = []byte(s.alertmanager(string(f.Text)))
	case dir == "grafana":
		f.Text, err = s.board(f.Text)
	}
	if err != nil {
		return File{}, fmt.Errorf("%s: %w", f.Path, err)
	}
	return f, nil
}
