package deploy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// File is a file to write: a path with slashes, and its text.
type File struct {
	Path string
	Text []byte
}

// Format is the packaging of rules and dashboards.
type Format string

// Formats. All of them include the runbooks, the configuration of Alertmanager and the README.
const (
	// Plain has files for rule_files of Prometheus and provisioning of Grafana, and a PrometheusRule.
	Plain Format = "files"
	// ConfigMaps has one ConfigMap per dashboard, with the label that Grafana's sidecar looks for, and the
	// rules as a PrometheusRule.
	ConfigMaps Format = "configmaps"
	// Mixin is mixin.libsonnet over the files.
	Mixin Format = "mixin"
)

// pack returns the files of the format.
func (f Format) pack(all []File) ([]File, error) {
	switch f {
	case Plain:
		return all, nil
	case ConfigMaps:
		return configMaps(all)
	case Mixin:
		return mixin(all), nil
	}
	return nil, fmt.Errorf("--format %s: want %s, %s or %s", f, Plain, ConfigMaps, Mixin)
}

// without returns the files outside these folders.
func without(all []File, folders ...string) []File {
	return slices.DeleteFunc(slices.Clone(all), func(f File) bool {
		folder, _, _ := strings.Cut(f.Path, "/")
		return slices.Contains(folders, folder)
	})
}

func in(all []File, folder string) []File {
	return slices.DeleteFunc(slices.Clone(all), func(f File) bool { return path.Dir(f.Path) != folder })
}

func configMaps(all []File) ([]File, error) {
	made := without(all, "rules", "grafana", "provisioning")
	for _, board := range in(all, "grafana") {
		text, err := configMap(path.Base(board.Path), board.Text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", board.Path, err)
		}
		made = append(made, File{"kubernetes/" + strings.TrimSuffix(path.Base(board.Path), ".json") + ".yaml", text})
	}
	return made, nil
}

// configMap holds a dashboard without white space: kubectl apply keeps a copy in an annotation, which must
// be smaller than 256 KiB after escaping.
func configMap(name string, board []byte) ([]byte, error) {
	var small bytes.Buffer
	if err := json.Compact(&small, board); err != nil {
		return nil, err
	}
	var m struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string `yaml:"kind"`
		Metadata   struct {
			Name   string            `yaml:"name"`
			Labels map[string]string `yaml:"labels"`
		} `yaml:"metadata"`
		Data map[string]string `yaml:"data"`
	}
	m.APIVersion, m.Kind, m.Metadata.Name = "v1", "ConfigMap", strings.TrimSuffix(name, ".json")
	m.Metadata.Labels = map[string]string{"app.kubernetes.io/name": "lockscope", "grafana_dashboard": "1"}
	m.Data = map[string]string{name: small.String()}
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	err := e.Encode(m)
	return out.Bytes(), err
}

// mixin adds the file that jsonnet, mixtool and Grafana's tools read.
func mixin(all []File) []File {
	made := without(all, "kubernetes", "provisioning")
	var recording, alerts, boards []string
	for _, f := range in(all, "rules") {
		groups := fmt.Sprintf("std.parseYaml(importstr '%s').groups", f.Path)
		if path.Base(f.Path) == "recording.yaml" {
			recording = append(recording, groups)
		} else {
			alerts = append(alerts, groups)
		}
	}
	for _, f := range in(all, "grafana") {
		boards = append(boards, fmt.Sprintf("    '%s': import '%s',\n", path.Base(f.Path), f.Path))
	}
	text := "// Rules and dashboards of lockscope; see README.md. Needs std.parseYaml of jsonnet 0.18 or later.\n{\n" +
		"  prometheusAlerts+:: {\n    groups+: " + strings.Join(alerts, " + ") + ",\n  },\n" +
		"  prometheusRules+:: {\n    groups+: " + strings.Join(recording, " + ") + ",\n  },\n" +
		"  grafanaDashboards+:: {\n" + strings.Join(boards, "") + "  },\n}\n"
	return append(made, File{"mixin.libsonnet", []byte(text)})
}
