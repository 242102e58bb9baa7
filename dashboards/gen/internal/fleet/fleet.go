// Package fleet reads the configuration of a fleet: the input of the generator, and the settings that
// dashboards/deploy applies.
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

// Fleet is the whole configuration, as in a file.
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
	// Resources are the resources with expectations of their own.
	Resources []deploy.Resource `yaml:"resources,omitempty"`
	Boards    config.Boards     `yaml:"boards"`
}

// SLO has the objectives of every resource and their alert windows.
type SLO struct {
	Availability  float64 `yaml:"availability"` // share of acquires that get the lock
	Wait          float64 `yaml:"wait"`         // share of acquires that wait at most WithinSeconds
	WithinSeconds float64 `yaml:"within_seconds"`
	config.SLO    `yaml:",inline"`
}

// Default returns the configuration of the committed files.
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

// Read returns the defaults changed by the YAML file at path. Unknown fields are errors.
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

// YAML returns the fleet in the form that Read accepts.
func (f Fleet) YAML() ([]byte, error) {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	err := e.Encode(f)
	return b.Bytes(), err
}

// Config returns the input of the generator.
func (f Fleet) Config() config.Config {
	return config.Config{Interval: f.Interval, SLO: f.SLO.SLO, Alerts: f.Alerts, Boards: f.Boards}
}

// Settings returns the settings for dashboards/deploy. It leaves out values equal to Default, so that a board
// that no setting affects stays unchanged.
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
		s.Labels = append([]string{}, f.Labels...) // not nil: an empty list means no label
	}
	return s
}
