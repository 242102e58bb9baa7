package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/prometheus/common/model"

	"github.com/lockscope/lockscope/dashboards/gen/internal/catalogue"
	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
	"github.com/lockscope/lockscope/dashboards/gen/internal/grafana"
	"github.com/lockscope/lockscope/dashboards/gen/internal/lint"
	"github.com/lockscope/lockscope/dashboards/gen/internal/promql"
	"github.com/lockscope/lockscope/dashboards/gen/internal/rules"
)

// committed is the folder that the generator writes to.
const committed = ".."

// TestCommitted compares what is committed with what the generator makes.
func TestCommitted(t *testing.T) {
	made, err := generate(config.Default())
	must(t, err)
	written := map[string]bool{}
	for _, f := range made {
		path := filepath.Join(committed, filepath.FromSlash(f.Path))
		written[path] = true
		text, err := os.ReadFile(path)
		must(t, err)
		if string(text) != string(f.Text) {
			t.Errorf("%s differs from what is generated; run: cd dashboards/gen && go run . -out ..", f.Path)
		}
	}
	for _, pattern := range []string{"rules/*", "grafana/*", "kubernetes/*", "alertmanager/*"} {
		found, err := filepath.Glob(filepath.Join(committed, pattern))
		must(t, err)
		for _, path := range found {
			if !written[path] {
				t.Errorf("%s is not generated: move or remove it", path)
			}
		}
	}
}

// variants are configurations that must give sound files too.
func variants() map[string]config.Config {
	other := config.Default()
	other.Selector = `env="prod",team=~"a|b"`
	other.ExporterJob = "lockscope"
	other.SLO.WithinSeconds = 1 // a bound with two spellings
	other.SLO.Windows = other.SLO.Windows[:2]
	other.Labels = []string{"cluster", "namespace"}
	other.Resources = []config.Resource{{Resource: "report", Every: model.Duration(time.Hour)}, {Resource: "leader", Queues: true}}
	alone := config.Default()
	alone.Labels = nil
	alone.DashboardURL = "https://grafana.example.com"
	return map[string]config.Config{"default": config.Default(), "other": other, "alone": alone}
}

// known is the catalogue, with what the rules record.
func known(t *testing.T, c config.Config) (*catalogue.Catalogue, []rules.File) {
	all, err := catalogue.Read("../../instrument/doc.go", "../../exporter/doc.go")
	must(t, err)
	files, err := rules.Files(c)
	must(t, err)
	must(t, all.AddRecorded(files))
	all.Clusters(c.Labels)
	return all, files
}

func TestDashboards(t *testing.T) {
	for name, c := range variants() {
		t.Run(name, func(t *testing.T) {
			all, _ := known(t, c)
			l := lint.Linter{Catalogue: all}
			made, err := dashboards(c)
			must(t, err)
			for _, f := range made {
				d, err := grafana.Parse(f.Text)
				must(t, err)
				l.Boards = append(l.Boards, d)
			}
			for _, f := range l.Check(append(lint.Common(), lint.Own()...)...) {
				t.Error(f)
			}
		})
	}
}

// TestRulesNameWhatExists checks the expressions of rules against the catalogue.
func TestRulesNameWhatExists(t *testing.T) {
	c := config.Default()
	all, files := known(t, c)
	for _, f := range files {
		for _, g := range f.Groups {
			for _, r := range g.Rules {
				tree, err := promql.Parse(r.Expr)
				must(t, err)
				have, err := all.Check(tree)
				if err != nil {
					t.Errorf("%s%s: %v", r.Record, r.Alert, err)
				}
				if r.Alert != "" {
					templates(t, r, have)
				}
			}
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
