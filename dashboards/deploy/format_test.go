package deploy

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestConfigMaps finds every dashboard in a ConfigMap that Grafana's sidecar reads and kubectl can apply.
func TestConfigMaps(t *testing.T) {
	plain := files(t, fleet(), Plain)
	made := map[string][]byte{}
	for _, f := range files(t, fleet(), ConfigMaps) {
		made[f.Path] = f.Text
		if strings.HasPrefix(f.Path, "rules/") || strings.HasPrefix(f.Path, "grafana/") {
			t.Errorf("%s is there twice", f.Path)
		}
	}
	if made["kubernetes/prometheusrule.yaml"] == nil {
		t.Error("no rules")
	}
	for _, board := range in(plain, "grafana") {
		name := strings.TrimSuffix(strings.TrimPrefix(board.Path, "grafana/"), ".json")
		var m struct {
			Kind     string
			Metadata struct {
				Name   string
				Labels map[string]string
			}
			Data map[string]string
		}
		text := made["kubernetes/"+name+".yaml"]
		must(t, yaml.Unmarshal(text, &m))
		if m.Kind != "ConfigMap" || m.Metadata.Name != name || m.Metadata.Labels["grafana_dashboard"] != "1" {
			t.Errorf("%s: %s %+v", name, m.Kind, m.Metadata)
		}
		var have, want any
		must(t, json.Unmarshal([]byte(m.Data[name+".json"]), &have))
		must(t, json.Unmarshal(board.Text, &want))
		if !reflect.DeepEqual(have, want) {
			t.Errorf("%s: another board", name)
		}
		if quoted, err := json.Marshal(string(text)); err != nil || len(quoted) > 200<<10 {
			t.Errorf("%s: an annotation of %d bytes, %v", name, len(quoted), err)
		}
	}
}
