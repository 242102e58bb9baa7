// Package fleet reads what a fleet wants to be different about its rules and dashboards: how
// they are made, and what dashboards/deploy fits them to.
package fleet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/prometheus/common/model"
	"go.yaml.in/yaml/v3"

	"github.com/lockscope/lockscope/dashboards/deploy"
	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
)

// Fleet is everything that can be changed, as it stands in a file.
type Fleet struct {
	// Selector, Labels, RunbookURL, DashboardURL and ExporterJob are deploy.Settings. Addresses do
	// not end in a slash.
	Selector     string   `yaml:"selector"`
	Labels       []string `yaml:"labels"`
	RunbookURL   string   `yaml:"runbook_url"`
	DashboardURL string   `yaml:"dashboard_url"`
	ExporterJob  string   `yaml:"exporter_job"`

	Interval model.Duration    `yaml:"interval"`
	SLO      SLO               `yaml:"slo"`
	Alerts   config.Thresholds `yaml:"alerts"`
	// Resources are those that differ from what is usual.
	Resources []deploy.Resource `yaml:"resources,omitempty"`
	Boards    config.Boards     `yaml:"boards"`
}

// SLO is what every resource is promised, and how that is watched.
type SLO struct {
	Availability  float64 `yaml:"availability"` // share of acquires that get the lock
	Wait          float64 `yaml:"wait"`         // share of acquires that wait for WithinSeconds at most
	WithinSeconds float64 `yaml:"within_seconds"`
	config.SLO    `yaml:",inline"`
}

// Default is what the committed files are made with.
func Default() Fleet {
	made, promised := config.Default(), deploy.ShippedObjectives()
	return Fleet{
		RunbookURL: deploy.ShippedRunbooks,
		Labels:     []string{deploy.ClusterLabel},
		Interval:   made.Interval,
		SLO:        SLO{promised.Availability, promised.Wait, promised.Within, made.SLO},
		Alerts:     made.Alerts,
		Boards:     made.Boards,
	}
}

// Read returns the defaults changed by the YAML file at path. Unknown fields are refused.
func Read(path string) (Fleet, error) {
	f := Default()
	text, err := os.ReadFile(path)
	if err != nil {
		return f, err
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&f); err != nil && !errors.Is(err, io.EOF) {
		return f, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// YAML returns the fleet as Read accepts it.
func (f Fleet) YAML() ([]byte, error) {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	err := e.Encode(f)
	return b.Bytes(), err
}

// Config is what the files are made with.
func (f Fleet) Config() config.Config {
	return config.Config{Interval: f.Interval, SLO: f.SLO.SLO, Alerts: f.Alerts, Boards: f.Boards}
}

// Settings are what the files that were made are fitted to. What is as in Default is left out, so that
// a board that nothing concerns stays as it was made.
func (f Fleet) Settings() deploy.Settings {
	s := deploy.Settings{
		Selector: f.Selector, GrafanaURL: f.DashboardURL, ExporterJob: f.ExporterJob,
		Objectives: deploy.Objectives{
			Availability: f.SLO.Availability, Wait: f.SLO.Wait, Within: f.SLO.WithinSeconds, Resources: f.Resources,
		},
	}
	usual := Default()
	if f.RunbookURL != usual.RunbookURL {
		s.RunbookURL = f.RunbookURL
	}
	if !slices.Equal(f.Labels, usual.Labels) {
		s.Labels = append([]string{}, f.Labels...) // not nil: no label is another choice than the usual one
	}
	return s
}
