package compose_test

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

const provisioning = "/etc/grafana/provisioning/"

type datasource struct {
	UID, Type, URL string
	IsDefault      bool `yaml:"isDefault"`
	JSONData       struct {
		TimeInterval string `yaml:"timeInterval"`
		Exemplars    []struct {
			Name          string `yaml:"name"`
			DatasourceUID string `yaml:"datasourceUid"`
		} `yaml:"exemplarTraceIdDestinations"`
	} `yaml:"jsonData"`
}

// TestDatasources: an exemplar leads from Prometheus to where the spans are kept.
func TestDatasources(t *testing.T) {
	s := loadStack(t)
	all := make(map[string]datasource)
	for _, name := range []string{"prometheus", "tempo"} {
		var d struct{ Datasources []datasource }
		must(t, yaml.Unmarshal([]byte(s.Services["grafana"].file(t, provisioning+"datasources/"+name+".yaml")), &d))
		for _, source := range d.Datasources {
			all[source.UID] = source
		}
	}
	prometheus := all["prometheus"]
	if len(all) != 2 || !prometheus.IsDefault || prometheus.URL != "http://prometheus:9090" {
		t.Fatalf("%+v", all)
	}
	if e := prometheus.JSONData.Exemplars; len(e) != 1 || e[0].Name != "trace_id" ||
		all[e[0].DatasourceUID].Type != "tempo" {
		t.Errorf("exemplars lead to %+v", e)
	}
	scraped := regexp.MustCompile(`scrape_interval: (\S+)`).FindStringSubmatch(read(t, "prometheus.yml"))
	if len(scraped) != 2 || scraped[1] != prometheus.JSONData.TimeInterval {
		t.Errorf("scraped every %q, but Grafana is told %q", scraped, prometheus.JSONData.TimeInterval)
	}
	s.Services["prometheus"].flag(t, "--enable-feature") // else there are no exemplars
}

// TestDashboards: Grafana finds the dashboards where it is told to look, and one of them is its home.
func TestDashboards(t *testing.T) {
	grafana := loadStack(t).Services["grafana"]
	var p struct {
		Providers []struct{ Options struct{ Path string } }
	}
	must(t, yaml.Unmarshal([]byte(grafana.file(t, provisioning+"dashboards/lockscope.yaml")), &p))
	if len(p.Providers) != 1 {
		t.Fatalf("%+v", p)
	}
	path := p.Providers[0].Options.Path
	if found, err := filepath.Glob(grafana.onHost(t, path) + "/*.json"); err != nil || len(found) < 4 {
		t.Errorf("%q, %v", found, err)
	}
	home := grafana.Environment["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
	if !strings.HasPrefix(home, path+"/") || !json.Valid([]byte(grafana.file(t, home))) {
		t.Errorf("home: %s", home)
	}
}
