// Package deploy makes what a Prometheus and a Grafana are given out of the shipped rules and
// dashboards: with the labels, objectives and addresses of a fleet, and as files, as manifests of
// Kubernetes or as a mixin.
//
// Expressions are changed in their syntax trees, by the parser of Prometheus. Nothing else renders
// a setting: the module in dashboards/gen, which makes the shipped files and those with other windows
// and thresholds, knows none of them and fits what it has made with this package.
package deploy

import (
	"fmt"
	"io/fs"
	"path"
)

// Files returns the files of a deployment, in the order of their paths. The folders are those of
// dashboards.FS. A file that the settings do not concern is returned as it is.
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

// Fit changes one file, by the folder it is in. It does not check the settings, as Files does: see Check.
func (s Settings) Fit(f File) (File, error) {
	var err error
	switch dir := path.Dir(f.Path); {
	case dir == "rules" || dir == "kubernetes":
		f.Text, err = s.rules(f.Text)
	case dir == "alertmanager":
		f.Text, err = s.alertmanager(f.Text)
	case dir == "grafana":
		f.Text, err = s.board(f.Text)
	}
	if err != nil {
		return File{}, fmt.Errorf("%s: %w", f.Path, err)
	}
	return f, nil
}
