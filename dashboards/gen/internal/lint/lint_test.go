package lint_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockscope/lockscope/dashboards/deploy"
	"github.com/lockscope/lockscope/dashboards/gen/internal/catalogue"
	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
	"github.com/lockscope/lockscope/dashboards/gen/internal/grafana"
	"github.com/lockscope/lockscope/dashboards/gen/internal/lint"
	"github.com/lockscope/lockscope/dashboards/gen/internal/rules"
)

// good is the committed dashboard that samples are made of.
func good(t *testing.T) string {
	text, err := os.ReadFile("../../../grafana/lockscope-resources.json")
	must(t, err)
	return string(text)
}

func linter(t *testing.T, sample string) lint.Linter {
	known, err := catalogue.Read("../../../../instrument/doc.go", "../../../../exporter/doc.go")
	must(t, err)
	files, err := rules.Files(config.Default())
	must(t, err)
	must(t, known.AddRecorded(files))
	known.Clusters([]string{deploy.ClusterLabel})
	l := lint.Linter{Catalogue: known}
	d, err := grafana.Parse([]byte(sample))
	must(t, err)
	l.Boards = append(l.Boards, d)
	for _, name := range []string{"overview", "alerts", "resource", "nodes", "leaks", "adoption"} {
		text, err := os.ReadFile(filepath.Join("../../../grafana", "lockscope-"+name+".json"))
		must(t, err)
		d, err := grafana.Parse(text)
		must(t, err)
		l.Boards = append(l.Boards, d)
	}
	return l
}

// spoiled says how to make a good dashboard bad in one respect: every occurrence of
// old becomes new.
var spoiled = map[string][]struct{ old, new string }{
	"template-datasource-rule": {
		{`"label": "Data source"`, `"label": "DS"`},
		{`"type": "datasource"`, `"type": "custom"`},
	},
	"template-job-rule": {
		{`"label": "Job"`, `"label": "Service"`},
		{`"name": "job"`, `"name": "service"`},
		{`"allValue": ".+"`, `"allValue": ".*"`},
	},
	"template-instance-rule": {
		{`"label": "Instance"`, `"label": "Pod"`},
		{`"name": "instance"`, `"name": "pod"`},
	},
	"template-label-promql-rule": {
		{`label_values({__name__=~`, `label_values({__name__~`},
		{`label_values(`, `query_result(`},
		{`}, resource)"`, `}, job)"`},
	},
	"template-on-time-change-reload-rule": {{`"refresh": 2`, `"refresh": 1`}},
	"panel-datasource-rule":               {{`"uid": "${datasource}"`, `"uid": "prometheus-1"`}},
	"panel-title-description-rule": {
		{`"title": "Held now"`, `"title": ""`},
		{`"description": "Callers that wait`, `"unknown": "Callers that wait`},
	},
	"panel-units-rule":      {{`"unit": "ops"`, `"unit": "parsecs"`}, {`"value": "s"`, `"value": "parsecs"`}},
	"panel-no-targets-rule": {{`"targets": [`, `"unknown": [`}},
	"target-promql-rule":    {{`sum by (`, `sum by by (`}, {`$__range]`, `$__distance]`}},
	"target-rate-interval-rule": {
		{
			`(rate(distributed_lock_wait_seconds_count{job=~\"$job\", instance=~\"$instance\", resource=~\"$resource\", cluster=~\"$cluster\"}[$__rate_interval])`,
			`(rate(distributed_lock_wait_seconds_count{job=~\"$job\", instance=~\"$instance\", resource=~\"$resource\", cluster=~\"$cluster\"}[5m])`},
	},
	"target-job-rule":         {{`{job=~\"$job\", instance=~\"$instance\"`, `{instance=~\"$instance\"`}},
	"target-instance-rule":    {{`, instance=~\"$instance\"`, ``}},
	"target-counter-agg-rule": {{`increase(distributed_lock_lost_total`, `max_over_time(distributed_lock_lost_total`}},
	"uneditable-dashboard":    {{`"editable": false`, `"editable": true`}, {`"editable": false`, `"unknown": false`}},

	"catalogue-rule": {
		{`distributed_lock_waiting`, `distributed_lock_waitings`},
		{`sum by (outcome)`, `sum by (result)`},
		{`outcome=\"acquired\"`, `result=\"acquired\"`},
		{`:rate5m`, `:rate1w`},
		{`alertname=~`, `alert=~`},
		{`label_values(distributed_lock_waiting`, `label_values(distributed_lock_queueing`},
	},
	"legend-rule": {{`"legendFormat": "{{outcome}}"`, `"legendFormat": "{{reason}}"`}},
	"pattern-variable-rule": {{`resource=~\"$resource\"`, `resource=\"$resource\"`},
		{`"multi": true`, `"multi": false`}},
	"integer-bound-rule": {{`le=\"0.5\"`, `le=\"1\"`}, {`le=\"0.5\"`, `le=\"5.0\"`}},
	"classic-model-rule": {{`"schemaVersion": 42`, `"schemaVersion": 43`}, {`"id": 7,`, `"id": 6,`},
		{`"distributed-lock"`, `"locks"`}},
	"layout-rule": {{`"w": 12,`, `"w": 13,`}, {`"w": 12,`, `"w": 11,`},
		{`"collapsed": true`, `"collapsed": false`}},
	"link-rule":      {{`/d/lockscope-resource?`, `/d/lockscope-lock?`}},
	"alerts-rule":    {{`"expr": "ALERTS{`, `"expr": "up{`}},
	"exemplar-rule":  {{`"exemplar": true`, `"exemplar": false`}},
	"advice-rule":    {{`Good: 0. Take locks`, `Take locks`}},
	"threshold-rule": {{`"thresholds": {`, `"limits": {`}},
}

func TestRules(t *testing.T) {
	text := good(t)
	for _, rule := range append(lint.Common(), lint.Own()...) {
		samples := spoiled[rule.Name]
		if len(samples) == 0 {
			t.Errorf("%s: no bad sample", rule.Name)
		}
		for _, f := range linter(t, text).Check(rule) {
			t.Errorf("the good sample: %s", f)
		}
		for _, s := range samples {
			bad := strings.ReplaceAll(text, s.old, s.new)
			if bad == text {
				t.Errorf("%s: %s does not occur in the sample", rule.Name, s.old)
				continue
			}
			found := linter(t, bad).Check(rule)
			if len(found) == 0 {
				t.Errorf("%s: nothing found wrong with %s", rule.Name, s.new)
			} else {
				t.Logf("%d findings: %s", len(found), found[0])
			}
		}
	}
	if len(lint.Common()) != 15 {
		t.Errorf("%d rules of dashboard-linter, want the 15 that apply", len(lint.Common()))
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
