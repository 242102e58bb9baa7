package deploy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"
	"go.yaml.in/yaml/v3"
)

// TestBoards has every selector of every board match what the reader chose and what the selector says.
func TestBoards(t *testing.T) {
	var rules []map[string]string
	for _, f := range in(files(t, fleet(), Plain), "grafana") {
		var b object
		must(t, json.Unmarshal(f.Text, &b))
		var names []string
		for _, v := range b["templating"].(object)["list"].([]any) {
			names = append(names, v.(object)["name"].(string))
		}
		at := func(name string) int { return slices.Index(names, name) }
		if c, n := at("cluster"), at("namespace"); c < 0 || n != c+1 || at("job") < n {
			t.Errorf("%s: variables %v", f.Path, names)
		}
		for _, text := range expressions(b) {
			plain, _ := standIns(text)
			tree, err := parse(plain)
			must(t, err)
			rules = append(rules, map[string]string{"record": fmt.Sprintf("panel:%d", len(rules)), "expr": plain})
			parser.Inspect(tree, func(node parser.Node, _ []parser.Node) error {
				if v, ok := node.(*parser.VectorSelector); ok {
					check(t, f.Path, v)
				}
				return nil
			})
		}
		for _, old := range []string{"99.9 %", "0.5 s ", `le=\"0.5\"`, "1 - 0.999)"} {
			if strings.Contains(string(f.Text), old) {
				t.Errorf("%s: %s is the shipped objective", f.Path, old)
			}
		}
	}
	path := filepath.Join(t.TempDir(), "panels.yaml")
	text, err := yaml.Marshal(map[string]any{"groups": []any{map[string]any{"name": "panels", "rules": rules}}})
	must(t, err)
	must(t, os.WriteFile(path, text, 0o600))
	promtool(t, "check", "rules", path)
	t.Logf("%d expressions", len(rules))
}

// check wants the labels beside the job, and the selector with what is scraped.
func check(t *testing.T, path string, v *parser.VectorSelector) {
	have := map[string]bool{}
	for _, m := range v.LabelMatchers {
		have[m.String()] = true
	}
	if job := have[`job=~"$job"`]; job && !(have[`cluster=~"$cluster"`] && have[`namespace=~"$namespace"`]) {
		t.Errorf("%s: not by the labels: %s", path, v)
	}
	if scraped(v) != have[`env="prod"`] || scraped(v) != have[`team=~"a|b"`] {
		t.Errorf("%s: not by the selector: %s", path, v)
	}
}

// TestVariables has a board with a variable for the cluster, and one without, ask for the same labels.
func TestVariables(t *testing.T) {
	const job = `{"name":"job","definition":"label_values(%s, job)","query":{"query":"label_values(%[1]s, job)"}}`
	const cluster = `{"name":"cluster","definition":"label_values(m, cluster)",
		"query":{"query":"label_values(m, cluster)"}},`
	const board = `{"templating":{"list":[%s]},
		"panels":[{"targets":[{"expr":"sum(rate(m{%sjob=~\"$job\"}[$__rate_interval]))"}],
		"links":[{"url":"/d/x?%s${job:queryparam}"}]}]}`
	s := Settings{Labels: []string{"region", "zone"}}
	without, err := s.board(fmt.Appendf(nil, board, fmt.Sprintf(job, "m"), "", ""))
	must(t, err)
	with, err := s.board(fmt.Appendf(nil, board, cluster+fmt.Sprintf(job, `m{cluster=~\"$cluster\"}`),
		`cluster=~\"$cluster\",`, "${cluster:queryparam}&"))
	must(t, err)
	if !bytes.Equal(with, without) {
		t.Errorf("with a variable:\n%s\nwithout:\n%s", with, without)
	}
	for _, want := range []string{
		`label_values(m, zone)`, `label_values(m{region=~\"$region\",zone=~\"$zone\"}, job)`,
		`sum(rate(m{job=~\"$job\",region=~\"$region\",zone=~\"$zone\"}[$__rate_interval]))`,
		"/d/x?${region:queryparam}&${zone:queryparam}&${job:queryparam}",
	} {
		if !strings.Contains(string(without), want) {
			t.Errorf("no %s in\n%s", want, without)
		}
	}
}

// TestQueriesOfOthers: logs and traces are asked for in languages of their own, and come back as they are.
func TestQueriesOfOthers(t *testing.T) {
	const panel = `{"panels":[{"targets":[{"expr":"{service_name=~\".+\"} |= \"lock\"",` +
		`"datasource":{"type":"loki"}}]}]}`
	out, err := Settings{Labels: []string{"region"}}.board([]byte(panel))
	must(t, err)
	if want := `{service_name=~\".+\"} |= \"lock\"`; !strings.Contains(string(out), want) {
		t.Errorf("no %s in\n%s", want, out)
	}
}

func TestStandIns(t *testing.T) {
	for _, text := range []string{
		`rate(m[$__rate_interval])`, `m{a=~"$a",b="\"${b}"} offset $__range`,
		`topk($top, sum by (a) (m)) > ${limit:raw}`,
		`max_over_time(m[$__range:$__interval])`,
	} {
		plain, restore := standIns(text)
		tree, err := parse(plain)
		must(t, err)
		if have := restore(tree.String()); have != text {
			t.Errorf("%s became %s", text, have)
		}
	}
}

// expressions are those of panels, annotations and variables.
func expressions(v any) (all []string) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			all = append(all, expressions(item)...)
		}
	case object:
		for key, item := range v {
			text, _ := item.(string)
			if m := labelValues.FindStringSubmatch(text); m != nil && key == "query" {
				all = append(all, m[1])
			}
			if key == "expr" && !elsewhere(v) {
				all = append(all, text)
			}
			all = append(all, expressions(item)...)
		}
	}
	return all
}
