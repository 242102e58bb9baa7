package ruletest

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/rulefmt"

	"github.com/lockscope/lockscope/dashboards/gen/internal/rules"
)

func groups() []rules.Group {
	return []rules.Group{
		{Name: "records", Interval: 60e9, Rules: []rulefmt.Rule{{Record: "a:b:c", Expr: "x"},
			{Record: "d:e:f", Expr: "y"}}},
		{Name: "alerts", Interval: 60e9, Rules: []rulefmt.Rule{{Alert: "A", Expr: "a:b:c > 1"},
			{Alert: "B", Expr: "z > 1"}}},
	}
}

func names(all []rules.Group) (list []string) {
	for _, g := range all {
		for _, r := range g.Rules {
			list = append(list, name(r))
		}
	}
	return list
}

// TestJobs has every test in one job, with what it asks for and what that reads.
func TestJobs(t *testing.T) {
	ask := func(expr string) Test { return Test{Queries: []Check{{At: 60e9, Expr: expr}}} }
	suites := []Suite{{File: "one", Tests: []Test{
		ask(`ALERTS{alertname="A"}`), {Alerts: []Check{{At: 60e9, Alert: "B"}}},
		ask(`count(ALERTS{alertname="A",job="x"})`),
		ask(`count(ALERTS)`), ask(`count(ALERTS{alertname=~"A|B"})`), ask(`d:e:f`),
	}}}
	have := map[string]int{}
	for _, j := range Jobs(suites, groups()) {
		have[strings.Join(names(j.Groups), " ")] += len(j.Tests)
	}
	for key, n := range map[string]int{"a:b:c A": 2, "B": 1, "a:b:c d:e:f A B": 2, "d:e:f": 1} {
		if have[key] != n {
			t.Errorf("%d tests with %s, want %d", have[key], key, n)
		}
	}
}

// TestPromtool tells a test that fails from one that cannot be run.
func TestPromtool(t *testing.T) {
	s := Suite{Interval: "1m", Tests: []Test{{Interval: "1m",
		Series: []map[string]any{{"series": "z", "values": "2 2"}}, Queries: []Check{
			{At: 60e9, Expr: `ALERTS{alertname="B"}`,
				Samples: []any{map[string]any{"labels": `ALERTS{alertname="B",alertstate="firing"}`, "value": 1}}},
		}}}}
	if failed, says, err := Promtool(t.Context(), s, groups()); len(failed) > 0 || err != nil {
		t.Errorf("%v, %s, %v", failed, says, err)
	}
	s.Tests[0].Queries[0].Samples = nil
	without := Needed(groups(), []string{"A"})
	failed, says, err := Promtool(t.Context(), s, groups(), without, groups())
	if !slices.Equal(failed, []int{0, 2}) || !strings.Contains(says, "got:") || err != nil {
		t.Errorf("%v, %s, %v", failed, says, err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if failed, _, err := Promtool(ended, s, groups()); len(failed) > 0 || err == nil {
		t.Errorf("canceled: %v, %v", failed, err)
	}
}

// TestLoadRefuses a field that would be lost.
func TestLoadRefuses(t *testing.T) {
	dir := t.TempDir()
	if _, err := Load(dir); err == nil {
		t.Error("an empty folder is accepted")
	}
	if err := os.WriteFile(filepath.Join(dir, "a.yaml"), []byte("tests: [{external_labels: {a: b}}]"),
		0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "external_labels") {
		t.Errorf("%v", err)
	}
}

func TestAsks(t *testing.T) {
	have, known := Test{Queries: []Check{{Expr: `a:b:c and ALERTS{alertname="A"}`}}}.Asks()
	if !known || !slices.Equal(have, []string{"A", "a:b:c"}) {
		t.Errorf("%v, %v", have, known)
	}
}
