package compose_test

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const provisioning = "/etc/grafana/provisioning/"

type datasources struct {
	APIVersion  int          `yaml:"apiVersion"`
	Datasources []datasource `yaml:"datasources"`
}

type datasource struct {
	Name      string `yaml:"name"`
	UID       string `yaml:"uid"`
	Type      string `yaml:"type"`
	Access    string `yaml:"access"`
	URL       string `yaml:"url"`
	IsDefault bool   `yaml:"isDefault"`
	JSONData  struct {
		HTTPMethod   string     `yaml:"httpMethod"`
		TimeInterval string     `yaml:"timeInterval"`
		Exemplars    []exemplar `yaml:"exemplarTraceIdDestinations"`
	} `yaml:"jsonData"`
}

type exemplar struct {
	Name          string `yaml:"name"`
	DatasourceUID string `yaml:"datasourceUid"`
}

type providers struct {
	APIVersion int `yaml:"apiVersion"`
	Providers  []struct {
		Name            string `yaml:"name"`
		Folder          string `yaml:"folder"`
		Type            string `yaml:"type"`
		DisableDeletion bool   `yaml:"disableDeletion"`
		AllowUIUpdates  bool   `yaml:"allowUiUpdates"`
		UpdateInterval  int    `yaml:"updateIntervalSeconds"`
		Options         struct {
			Path string `yaml:"path"`
		} `yaml:"options"`
	} `yaml:"providers"`
}

// provisioned are the data sources by uid.
func provisioned(t *testing.T, grafana service) map[string]datasource {
	t.Helper()
	all := make(map[string]datasource)
	for _, m := range grafana.mounts(t) {
		if filepath.Dir(m.target)+"/" != provisioning+"datasources/" {
			continue
		}
		var d datasources
		decode(t, read(t, m.source), &d)
		for _, source := range d.Datasources {
			if all[source.UID].UID != "" || source.UID == "" || d.APIVersion != 1 || source.Access != "proxy" {
				t.Errorf("%s: %+v", m.source, source)
			}
			all[source.UID] = source
		}
	}
	return all
}

// TestDatasources: an exemplar leads from Prometheus to where the spans are kept.
func TestDatasources(t *testing.T) {
	s := loadStack(t)
	all := provisioned(t, s.Services["grafana"])
	prometheus := all["prometheus"]
	if len(all) != 2 || prometheus.Type != "prometheus" || !prometheus.IsDefault ||
		prometheus.URL != "http://prometheus:9090" {
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
	if want := "http://tempo:" + loadTempo(t, s).Server.HTTPListenPort; all["tempo"].URL != want {
		t.Errorf("traces are asked for at %s, not at %s", all["tempo"].URL, want)
	}
	s.Services["prometheus"].flag(t, "--enable-feature") // else there are no exemplars
}

// TestDashboards: Grafana finds the dashboards where it is told to look, they name no
// data source but through a variable, the first of which is for prometheus, and one is its home.
func TestDashboards(t *testing.T) {
	grafana := loadStack(t).Services["grafana"]
	var p providers
	decode(t, grafana.file(t, provisioning+"dashboards/lockscope.yaml"), &p)
	if len(p.Providers) != 1 || p.APIVersion != 1 || p.Providers[0].Type != "file" {
		t.Fatalf("%+v", p)
	}
	paths, err := filepath.Glob(grafana.onHost(t, p.Providers[0].Options.Path) + "/*.json")
	if err != nil || len(paths) < 4 {
		t.Fatalf("%q, %v", paths, err)
	}
	for _, path := range paths {
		checkDatasource(t, path)
	}
	home := grafana.Environment["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
	if !strings.HasPrefix(home, p.Providers[0].Options.Path+"/") || !json.Valid([]byte(grafana.file(t, home))) {
		t.Errorf("home: %s", home)
	}
}

var named = regexp.MustCompile(`"datasource":\s*\{[^}]*"uid":\s*"([^"]*)"`)

func checkDatasource(t *testing.T, path string) {
	t.Helper()
	var d struct {
		Templating struct {
			List []struct{ Name, Type string } `json:"list"`
		} `json:"templating"`
	}
	text := read(t, path)
	must(t, json.Unmarshal([]byte(text), &d))
	if v := d.Templating.List; len(v) == 0 || v[0].Name != "datasource" || v[0].Type != "datasource" {
		t.Errorf("%s: variables %+v", path, v)
	}
	chosen := []string{"-- Grafana --", "-- Dashboard --", "-- Mixed --"} // Grafana's own
	for _, v := range d.Templating.List {
		if v.Type == "datasource" {
			chosen = append(chosen, "${"+v.Name+"}")
		}
	}
	for _, m := range named.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(chosen, m[1]) {
			t.Errorf("%s: a panel wants the data source %q", path, m[1])
		}
	}
}

// TestNobodyLogsIn: there is no password to know, and so none to guess.
func TestNobodyLogsIn(t *testing.T) {
	env := loadStack(t).Services["grafana"].Environment
	for name, want := range map[string]string{
		"GF_AUTH_ANONYMOUS_ENABLED": "true", "GF_AUTH_ANONYMOUS_ORG_ROLE": "Editor",
		"GF_AUTH_BASIC_ENABLED": "false", "GF_AUTH_DISABLE_LOGIN_FORM": "true",
	} {
		if env[name] != want {
			t.Errorf("%s=%q, not %q", name, env[name], want)
		}
	}
}
