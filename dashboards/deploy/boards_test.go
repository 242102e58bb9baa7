package deploy

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// TestBoards finds the labels as variables, and none of the shipped objectives. The generator's tests parse the
// expressions.
func TestBoards(t *testing.T) {
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
		for line := range strings.Lines(string(f.Text)) {
			for _, old := range []string{"99.9 %", "0.5 s ", `le=\"0.5\"`, "1 - 0.999)"} {
				if strings.Contains(line, old) {
					t.Errorf("%s: %s is the shipped objective", f.Path, old)
				}
			}
			if strings.Contains(line, `le=\"0.1\"`) && strings.Contains(line, "histogram_fraction(-1, 0.5,") {
				t.Errorf("%s: native histograms have the shipped objective: %s", f.Path, line)
			}
		}
	}
}

// TestObjectivesOfEach: an objective whose value is the other's shipped one stays its own.
func TestObjectivesOfEach(t *testing.T) {
	s := Settings{Objectives: Objectives{Availability: 0.99, Wait: 0.9}}
	for shipped, want := range map[string]string{"1 - a / (1 - 0.999)": "1 - a / (1 - 0.99)", "b / (1 - 0.99)": "b / (1 - 0.9)"} {
		if got := s.expr(shipped); got != want {
			t.Errorf("%s became %s, want %s", shipped, got, want)
		}
	}
	const burning = "a > 14.4 * 0.001 and b > 6 * 0.01 and c * 0.01 > 2 * 0.5"
	if got := s.Objectives.budgets(burning); got != "a > 14.4 * 0.01 and b > 6 * 0.1 and c * 0.01 > 2 * 0.5" {
		t.Errorf("%s became %s", burning, got)
	}
}

// TestExpr has the labels and the selector in every place of an expression that names the cluster or a scraped metric.
func TestExpr(t *testing.T) {
	two := Settings{Labels: []string{"region", "lock_node"}, Selector: `env=~"a$|b"`}
	none := Settings{Labels: []string{}}
	for _, c := range []struct {
		settings Settings
		expr     string
		want     string
	}{
		{two, `sum by (cluster, job) (up)`, `sum by (region, lock_node, job) (up{env=~"a$|b"})`},
		{two, `a:up:b / on (cluster, lock_node) up{job="up"}`, `a:up:b / on (region, lock_node) up{env=~"a$|b",job="up"}`},
		{two, `ALERTS{cluster=~"$cluster"} or distributed_lock_holds[5m]`,
			`ALERTS{region=~"$region",lock_node=~"$lock_node"} or distributed_lock_holds{env=~"a$|b"}[5m]`},
		{two, `{job="a",__name__=~"up|down"}`, `{env=~"a$|b",job="a",__name__=~"up|down"}`},
		{none, `sum by (cluster, job) (x{job=~"$job", cluster=~"$cluster"}) or count by (cluster) (y{cluster=~"$cluster"})`,
			`sum by (job) (x{job=~"$job"}) or count by () (y{})`},
		{none, `x{cluster=~"$cluster",a="b"} or x{c="d",cluster=~"$cluster",a="b"}`, `x{a="b"} or x{c="d",a="b"}`},
	} {
		if got := c.settings.expr(c.expr); got != c.want {
			t.Errorf("%s became\n%s, want\n%s", c.expr, got, c.want)
		}
	}
}

// TestVariables has a variable for each label, and the list of jobs depend on them.
func TestVariables(t *testing.T) {
	const board = `{"templating":{"list":[
		{"name":"cluster","definition":"label_values(m, cluster)","query":{"query":"label_values(m, cluster)"}},
		{"name":"job","definition":"label_values(m{cluster=~\"$cluster\"}, job)"}]},
		"panels":[{"links":[{"url":"/d/x?${cluster:queryparam}&${job:queryparam}"}]}]}`
	made, err := Settings{Labels: []string{"region", "zone"}}.board([]byte(board))
	must(t, err)
	for _, want := range []string{
		`label_values(m, zone)`, `label_values(m{region=~\"$region\",zone=~\"$zone\"}, job)`,
		"/d/x?${region:queryparam}&${zone:queryparam}&${job:queryparam}",
	} {
		if !strings.Contains(string(made), want) {
			t.Errorf("no %s in\n%s", want, made)
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
