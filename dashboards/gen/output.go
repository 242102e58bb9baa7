package main

import (
	"os"
	"path/filepath"

	"github.com/lockscope/lockscope/dashboards/deploy"
	"github.com/lockscope/lockscope/dashboards/gen/internal/boards"
	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
	"github.com/lockscope/lockscope/dashboards/gen/internal/fleet"
	"github.com/lockscope/lockscope/dashboards/gen/internal/rules"
)

// generate makes all files and fits them to the fleet.
func generate(f fleet.Fleet) ([]deploy.File, error) {
	all, err := made(f.Config())
	if err != nil {
		return nil, err
	}
	settings := f.Settings()
	for i := range all {
		if all[i], err = settings.Fit(all[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// made is every file before it is fitted. The manifest has a folder of its own: rule_files: [rules/*.yaml]
// would read it as rules.
func made(c config.Config) ([]deploy.File, error) {
	groups, err := rules.Files(c)
	if err != nil {
		return nil, err
	}
	var all []deploy.File
	for _, f := range groups {
		text, err := f.YAML()
		if err != nil {
			return nil, err
		}
		all = append(all, deploy.File{Path: "rules/" + f.Name, Text: text})
	}
	manifest, err := rules.Manifest(groups)
	if err != nil {
		return nil, err
	}
	alertmanager, err := rules.Alertmanager()
	if err != nil {
		return nil, err
	}
	all = append(all, deploy.File{Path: "kubernetes/prometheusrule.yaml", Text: manifest},
		deploy.File{Path: "alertmanager/alertmanager.yml", Text: alertmanager})
	dashboards, err := boards.Files(c)
	for _, f := range dashboards {
		all = append(all, deploy.File{Path: "grafana/" + f.Name, Text: f.JSON})
	}
	return all, err
}

func write(f fleet.Fleet, dir string) error {
	all, err := generate(f)
	if err != nil {
		return err
	}
	for _, f := range all {
		path := filepath.Join(dir, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.Text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
