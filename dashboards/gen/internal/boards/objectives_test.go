package boards_test

import (
	"testing"
	"time"

	"github.com/prometheus/common/model"

	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
	"github.com/lockscope/lockscope/dashboards/gen/internal/promql"
	"github.com/lockscope/lockscope/dashboards/gen/internal/rules"
	"github.com/lockscope/lockscope/dashboards/gen/internal/ruletest"
)

// asked asks the panels' queries of a test's series after an hour. The wanted values are by board, panel and query, and
// are those of what is put around the query.
func asked(t *testing.T, test ruletest.Test, around string, want map[[3]string]float64) {
	t.Helper()
	vars := map[string]string{"cluster": ".*", "job": ".+", "instance": ".+", "resource": ".+", "lock_node": ".+"}
	for uid, d := range drawn(t, config.Default()) {
		for _, q := range d.Queries() {
			at := [3]string{uid, q.Panel, q.Ref}
			value, ok := want[at]
			if !ok {
				continue
			}
			delete(want, at)
			expr, unknown := promql.Fill(q.Expr, vars)
			if len(unknown) > 0 {
				t.Fatal(q.Panel, unknown)
			}
			test.Queries = append(test.Queries, ruletest.Check{At: model.Duration(time.Hour), Expr: around + "(" + expr + ")",
				Samples: []any{map[string]any{"labels": "{}", "value": value}}})
		}
	}
	if len(want) > 0 {
		t.Errorf("no panels %v", want)
	}
	s := ruletest.Suite{Interval: "1m", Tests: []ruletest.Test{test}}
	if _, says, err := ruletest.Promtool(t.Context(), s, nil); says != "" || err != nil {
		t.Error(says, err)
	}
}

// TestObjectivesOfWhom: elections have no objectives, also once their candidates are gone. Resources where queues are
// expected have none for waits. Only the acquires of cart are fast, and half of the campaigns fail.
func TestObjectivesOfWhom(t *testing.T) {
	test := ruletest.Test{Name: "objectives", Interval: "1m"}
	add := func(series, values string) {
		test.Series = append(test.Series, map[string]any{"series": series, "values": values})
	}
	for resource, last := range map[string]string{"cart": "60", "batch": "60", "billing": "60", "audit": "40"} {
		recorded := `{cluster="east",job="shop",resource="` + resource + `"}`
		labels := `{instance="a",` + recorded[1:len(recorded)-1]
		fast, failed := "0x"+last, "0x"+last
		switch resource {
		case "cart":
			fast = "0+2x60"
			add(rules.SlowRatio(config.Default().SLO.Period)+recorded, "0x60")
		case "batch":
			add(rules.Queues+`{resource="batch"}`, "1x60")
			add(rules.SlowRatio(config.Default().SLO.Period)+recorded, "1x60")
		default:
			add(`distributed_lock_candidates`+labels+`,leader="seen"}`, "2x"+last)
			add(rules.Unserved+recorded, "1x"+last)
			failed = "0+1x" + last
		}
		add(`distributed_lock_wait_seconds_count`+labels+`}`, "0+2x"+last)
		add(`distributed_lock_wait_seconds_bucket`+labels+`,le="0.5"}`, fast)
		add(`distributed_lock_wait_seconds_bucket`+labels+`,le="+Inf"}`, "0+2x"+last)
		add(`distributed_lock_failures_total`+labels+`}`, failed)
	}
	const overview, alerts, resources = "lockscope-overview", "lockscope-alerts", "lockscope-resources"
	const table = "Objectives by resource"
	asked(t, test, "count", map[[3]string]float64{{overview, table, "A"}: 2, {alerts, table, "A"}: 2,
		{alerts, table, "H"}: 2})
	asked(t, test, "min", map[[3]string]float64{
		{overview, table, "B"}: 1, {overview, table, "D"}: 1, {overview, table, "E"}: 1,
		{alerts, table, "B"}: 1, {alerts, table, "C"}: 1, {alerts, table, "E"}: 1, {alerts, table, "F"}: 1,
		{alerts, table, "G"}: 1, {alerts, "Worst availability", "A"}: 1, {alerts, "Availability", "A"}: 1,
		{alerts, "Wait budget left", "A"}: 1, {alerts, "Good waits", "A"}: 1, {resources, "Good waits", "A"}: 1,
	})
}
