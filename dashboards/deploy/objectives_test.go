package deploy

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestRead reads the values that the generator reads, too.
func TestRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "values.yaml")
	must(t, os.WriteFile(file, []byte(`
labels: [cluster, namespace]
selector: env="prod",team=~"a|b"
exporter_job: locks
dashboard_url: https://graphs.example.com/
runbook_url: http://wiki/locks
slo: {availability: 0.9999, wait: 0.95, within_seconds: 0.1}
resources: [{resource: report, every: 1d}, {resource: leader, queues: true}]
`), 0o600))
	if have, err := Read(file); err != nil || !reflect.DeepEqual(have, fleet()) {
		t.Errorf("%+v, %v, want %+v", have, err, fleet())
	}
	must(t, os.WriteFile(file, []byte("labels: []"), 0o600))
	if have, err := Read(file); err != nil || have.Labels == nil || len(have.Labels) > 0 {
		t.Errorf("no labels: %+v, %v", have, err)
	}
	must(t, os.WriteFile(file, []byte("alerts: {waiters: 3}"), 0o600))
	for path, says := range map[string]string{"nowhere.yaml": "--values: open nowhere.yaml", file: "dashboards/gen"} {
		if _, err := Read(path); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestOverride(t *testing.T) {
	o := Objectives{Wait: 0.9}
	must(t, o.Override("availability=0.9999, within=0.1"))
	if want := (Objectives{Availability: 0.9999, Wait: 0.9, Within: 0.1}); !reflect.DeepEqual(o, want) {
		t.Errorf("%+v", o)
	}
	for _, text := range []string{"avail=1", "wait=much", "file.yaml"} {
		if err := o.Override(text); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
