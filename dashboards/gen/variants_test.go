package main

import (
	"path"
	"regexp"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"go.yaml.in/yaml/v3"

	"github.com/lockscope/lockscope/dashboards/deploy"
	"github.com/lockscope/lockscope/dashboards/gen/internal/catalogue"
	"github.com/lockscope/lockscope/dashboards/gen/internal/fleet"
	"github.com/lockscope/lockscope/dashboards/gen/internal/grafana"
	"github.com/lockscope/lockscope/dashboards/gen/internal/rules"
)

// variants are fleets that must have sound files, the usual one among them.
func variants() map[string]fleet.Fleet {
	all := deployed()
	other := all["fleet"]
	other.SLO.WithinSeconds = 1
	other.SLO.Windows = other.SLO.Windows[:2]
	other.Interval = model.Duration(30 * time.Second)
	other.Boards.Top = 5
	all["other"] = other
	return all
}

// deployed are those whose files `lockscope dashboards` can make, too: with the usual windows and thresholds.
func deployed() map[string]fleet.Fleet {
	objectives := fleet.Default()
	objectives.SLO.Availability, objectives.SLO.Wait, objectives.SLO.WithinSeconds = 0.9999, 0.95, 0.1
	everything := objectives
	everything.Labels, everything.Selector = []string{"cluster", "namespace"}, `env="prod",team=~"a|b"`
	everything.ExporterJob = "locks"
	everything.DashboardURL, everything.RunbookURL = "https://grafana.example.com", "https://wiki/locks"
	everything.Resources = []deploy.Resource{
		{Resource: "nightly:*", Every: model.Duration(24 * time.Hour), Queues: true},
		{Resource: "leader", Queues: true},
	}
	alone := fleet.Default()
	alone.Labels, alone.DashboardURL = nil, "https://grafana.example.com"
	second := fleet.Default()
	second.SLO.WithinSeconds = 1 // a bound with two spellings
	selector := fleet.Default()
	selector.Selector = `env="prod"`
	return map[string]fleet.Fleet{
		"default": fleet.Default(), "fleet": everything, "objectives": objectives, "alone": alone, "second": second,
		"selector": selector,
	}
}

func files(t *testing.T, f fleet.Fleet) []deploy.File {
	t.Helper()
	must(t, f.Check())
	all, err := generate(f)
	must(t, err)
	return all
}

func dashboards(t *testing.T, all []deploy.File) (boards []grafana.Dashboard) {
	t.Helper()
	for _, f := range all {
		if path.Dir(f.Path) == "grafana" {
			d, err := grafana.Parse(f.Text)
			must(t, err)
			boards = append(boards, d)
		}
	}
	if len(boards) != 7 {
		t.Fatalf("%d boards", len(boards))
	}
	return boards
}

// ruleFiles reads them as they are written.
func ruleFiles(t *testing.T, all []deploy.File) (read []rules.File) {
	t.Helper()
	for _, f := range all {
		if path.Dir(f.Path) == "rules" {
			one := rules.File{Name: path.Base(f.Path)}
			must(t, yaml.Unmarshal(f.Text, &one))
			read = append(read, one)
		}
	}
	if len(read) != 3 {
		t.Fatalf("%d files of rules", len(read))
	}
	return read
}

var matched = regexp.MustCompile(`(\w+)[=!]`)

// known is the catalogue, with what the rules record. What is scraped has the labels of the selector;
// what is recorded need not have them.
func known(t *testing.T, f fleet.Fleet, all []deploy.File) *catalogue.Catalogue {
	t.Helper()
	c, err := catalogue.Read("../../instrument/doc.go", "../../exporter/doc.go")
	must(t, err)
	var selected []string
	for _, m := range matched.FindAllStringSubmatch(f.Selector, -1) {
		selected = append(selected, m[1])
	}
	c.Clusters(selected)
	must(t, c.AddRecorded(ruleFiles(t, all)))
	c.Clusters(f.Labels)
	return c
}
