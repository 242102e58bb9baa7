package main

import (
	"os"
	"path/filepath"

	"github.com/lockscope/lockscope/dashboards/gen/internal/boards"
	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
	"github.com/lockscope/lockscope/dashboards/gen/internal/rules"
)

// file is one that is written, below the output directory.
type file struct {
	Path string
	Text []byte
}

// generate makes all files.
func generate(c config.Config) ([]file, error) {
	made, err := ruleFiles(c)
	if err != nil {
		return nil, err
	}
	more, err := dashboards(c)
	return append(made, more...), err
}

// ruleFiles keeps the manifest in a folder of its own: rule_files: [rules/*.yaml]
// would read it as rules.
func ruleFiles(c config.Config) ([]file, error) {
	all, err := rules.Files(c)
	if err != nil {
		return nil, err
	}
	var made []file
	for _, f := range all {
		text, err := f.YAML()
		if err != nil {
			return nil, err
		}
		made = append(made, file{"rules/" + f.Name, text})
	}
	manifest, err := rules.Manifest(all)
	if err != nil {
		return nil, err
	}
	alertmanager, err := rules.Alertmanager(c)
	return append(made, file{"kubernetes/prometheusrule.yaml", manifest}, file{"alertmanager/alertmanager.yml", alertmanager}), err
}

func dashboards(c config.Config) ([]file, error) {
	all, err := boards.Files(c)
	if err != nil {
		return nil, err
	}
	var made []file
	for _, f := range all {
		made = append(made, file{"grafana/" + f.Name, f.JSON})
	}
	return made, nil
}

func write(c config.Config, dir string) error {
	made, err := generate(c)
	if err != nil {
		return err
	}
	for _, f := range made {
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
