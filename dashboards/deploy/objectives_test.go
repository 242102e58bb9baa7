package deploy

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestReadObjectives(t *testing.T) {
	file := filepath.Join(t.TempDir(), "objectives.yaml")
	must(t, os.WriteFile(file, []byte(`
slo: {availability: 0.9999, wait: 0.95, within_seconds: 0.1}
resources: [{resource: report, every: 1d}, {resource: leader, queues: true}]
`), 0o600))
	have, err := ReadObjectives(file)
	if want := fleet().Objectives; err != nil || !reflect.DeepEqual(have, want) {
		t.Errorf("%+v, %v, want %+v", have, err, want)
	}
	have, err = ReadObjectives("availability=0.9999, within=0.1")
	if err != nil || have.Availability != 0.9999 || have.Within != 0.1 || have.Wait != 0 {
		t.Errorf("%+v, %v", have, err)
	}
	must(t, os.WriteFile(file, []byte("alerts: {waiters: 3}"), 0o600))
	for text, says := range map[string]string{
		"avail=1": "avail=1", "wait=much": "wait=much", "nowhere.yaml": "neither pairs", file: "dashboards/gen",
	} {
		if _, err := ReadObjectives(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
