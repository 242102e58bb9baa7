package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"

	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
	"github.com/lockscope/lockscope/dashboards/gen/internal/rules"
	"github.com/lockscope/lockscope/dashboards/gen/internal/ruletest"
)

// sent selects the alerts that fire and that no other alert holds back.
func sent(names string) string {
	expr := fmt.Sprintf(`ALERTS{alertstate="firing",severity!="none",alertname=~"DistributedLock(%s)"}`, names)
	for _, i := range rules.Inhibitions() {
		on := "on (" + strings.Join(i.Equal, ", ") + ")"
		expr += fmt.Sprintf(` unless (ALERTS{alertstate="firing",%s} and %s ALERTS{alertstate="firing",%s})`,
			strings.Join(i.Target, ","), on, strings.Join(i.Source, ","))
	}
	return expr
}

// TestOutagePagesOnce: three of five nodes hang from minute 60 to minute 66. Of everything that fires meanwhile and
// afterwards, one page goes out at a time: stalled calls or a lost quorum first, and nothing about what is over.
func TestOutagePagesOnce(t *testing.T) {
	test := ruletest.Test{Name: "outage", Interval: "30s"}
	add := func(series, values string) {
		test.Series = append(test.Series, map[string]any{"series": series, "values": values})
	}
	const labels = `{cluster="east",job="shop",instance="a",resource="cart"`
	// Ten acquires a second, none from minute 60 to 66. Each of the 20 calls that hung then fails.
	for _, name := range []string{`distributed_lock_wait_seconds_count` + labels, `distributed_lock_wait_seconds_bucket` + labels + `,le="+Inf"`} {
		add(name+"}", "0+300x120 36000x11 36020+300x120")
	}
	add(`distributed_lock_wait_seconds_bucket`+labels+`,le="0.5"}`, "0+300x120 36000x11 36000+300x120")
	add(`distributed_lock_wait_seconds_bucket`+labels+`,le="1.0"}`, "0+300x120 36000x11 36000+300x120")
	add(`distributed_lock_acquisitions_total`+labels+`,outcome="acquired"}`, "0+300x120 36000x11 36000+300x120")
	add(`distributed_lock_failures_total`+labels+"}", "0x120 0x11 20x120")
	add(`distributed_lock_lost_total`+labels+`,reason="extend_failed"}`, "0x120 0 4x10 4x120")
	add(`distributed_lock_waiting`+labels+"}", "1x120 20x11 1x120")
	add(`distributed_lock_waiting_without_quorum`+labels+"}", "0x120 20x11 0x120")
	add(`up{job="shop",instance="a"}`, "1x260")
	const process = `{cluster="east",job="shop",instance="a",backend="redis"`
	add(`distributed_lock_nodes`+process+"}", "5x260")
	add(`distributed_lock_quorum_nodes`+process+"}", "3x260")
	for i := range 5 {
		node := fmt.Sprintf(`lock_node="redis-%d"`, i)
		hung := i < 3
		pick := func(yes, no string) string {
			if hung {
				return yes
			}
			return no
		}
		add(`distributed_lock_node_usable`+process+","+node+"}", pick("1x120 0x11 1x120", "1x260"))
		add(`distributed_lock_node_duration_seconds_count`+process+","+node+`,operation="acquire"}`, "0+300x120 36000+20x11 36220+300x120")
		add(`distributed_lock_node_failures_total`+process+","+node+`,operation="acquire",reason="timeout"}`,
			pick("0x120 20+20x11 240x120", "0x260"))
		add(`distributed_lock_scanner_last_success_timestamp_seconds{cluster="east",job="lockscope",instance="s",`+node+"}", "0+30x260")
		add(`distributed_lock_scanner_up{cluster="east",job="lockscope",instance="s",`+node+"}", pick("1x120 0x11 1x120", "1x260"))
		add(`distributed_lock_scanner_quorum_nodes{cluster="east",job="lockscope",instance="s",`+node+"}", "3x260")
	}
	count := func(at float64, names string, want float64) {
		c := ruletest.Check{At: model.Duration(at * float64(time.Minute)), Expr: "count(" + sent(names) + ") or vector(0)"}
		c.Samples = []any{map[string]any{"labels": "{}", "value": want}}
		test.Queries = append(test.Queries, c)
	}
	for at := 60.; at < 120; at += .5 {
		if at < 66 || at >= 67.5 { // the quorum is there again, and its alert ends
			count(at, "(Acquire|Wait)ErrorBudgetBurn|Lost|QuorumAtRisk|NodeDown|NodeSlow|WaitP99High|RetryStorm|ReleaseFailures", 0)
		}
	}
	count(60.5, ".+", 0)
	count(62.5, "QuorumLost|AcquiresStalled", 1) // one job, and not the calls
	count(65, "QuorumLost", 1)
	count(65, ".+", 1)
	count(70, ".+", 0)
	// What is held back does fire.
	for name, at := range map[string]int{"Lost": 64, "AcquireErrorBudgetBurn": 68} {
		test.Queries = append(test.Queries, ruletest.Check{At: model.Duration(at) * model.Duration(time.Minute),
			Expr:    fmt.Sprintf(`count(ALERTS{alertstate="firing",severity="critical",alertname="DistributedLock%s"}) > bool 0`, name),
			Samples: []any{map[string]any{"labels": "{}", "value": 1}}})
	}
	files, err := rules.Files(config.Default())
	must(t, err)
	var groups []rules.Group
	for _, f := range files {
		groups = append(groups, f.Groups...)
	}
	s := ruletest.Suite{Interval: "30s", Tests: []ruletest.Test{test}}
	if _, says, err := ruletest.Promtool(t.Context(), s, groups); says != "" || err != nil {
		t.Error(says, err)
	}
}

// TestOutageOfOthers: a lost quorum holds back what it causes, and no alert about the nodes or the scanners of others.
func TestOutageOfOthers(t *testing.T) {
	test := ruletest.Test{Name: "others", Interval: "1m"}
	want := ruletest.Check{At: model.Duration(5 * time.Minute), Expr: sent(".+")}
	for labels, sends := range map[string]bool{
		`QuorumLost",job="reports",backend="redis`:                        true,
		`QuorumAtRisk",job="payments",backend="redis`:                     true,
		`QuorumAtRisk",job="reports",backend="other`:                      true,
		`InstanceQuorumAtRisk",job="reports",instance="b",backend="third`: true,
		`InstanceQuorumAtRisk",job="reports",instance="a",backend="redis`: false,
		`NodeDown",job="payments",backend="redis",lock_node="pay-1`:       false, // its quorum is at risk
		`NodeDown",job="payments",backend="other",lock_node="other-1`:     true,
		`NodeDown",job="reports",backend="redis",lock_node="dev-1`:        false,
		`NodeSlow",job="payments",backend="redis",lock_node="pay-2`:       true,
		`NodeSlow",job="reports",backend="redis",lock_node="dev-3`:        false,
		`NodeShaky",job="reports",backend="other",lock_node="other-1`:     true,
		`ScannerStale",job="lockscope",lock_node="dev-1`:                  false,
		`ScannerStale",job="lockscope",lock_node="pay-3`:                  true,
		`ScannerIncomplete",job="lockscope",reason="node_failed`:          false,
		`ScannerIncomplete",job="lockscope",reason="role_unknown`:         true,
		`ScannerMemoryFails",job="lockscope",instance="s`:                 true,
		`QuorumLost",job="idle",group="a`:                                 true,
		`ScannerStale",job="idle",lock_node="idle-1`:                      false,
		`ScannerIncomplete",job="idle",reason="role_unknown`:              false,
		`ScannerMemoryFails",job="idle",instance="s`:                      false,
	} {
		series := `{alertstate="firing",severity="warning",alertname="DistributedLock` + labels + `"}`
		test.Series = append(test.Series, map[string]any{"series": "ALERTS" + series, "values": "1x10"})
		if sends {
			want.Samples = append(want.Samples, map[string]any{"labels": "ALERTS" + series, "value": 1})
		}
	}
	test.Queries = []ruletest.Check{want}
	s := ruletest.Suite{Interval: "1m", Tests: []ruletest.Test{test}}
	if _, says, err := ruletest.Promtool(t.Context(), s, []rules.Group{{Name: "none", Interval: 60e9}}); says != "" || err != nil {
		t.Error(says, err)
	}
}
