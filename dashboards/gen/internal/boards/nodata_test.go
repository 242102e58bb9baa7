package boards_test

import (
	"testing"

	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
	"github.com/lockscope/lockscope/dashboards/gen/internal/ruletest"
)

// TestNoDataIsNotGood: a tile about what is bad is good only if something was looked at. Without scanners no node
// was, and without rules no alert.
func TestNoDataIsNotGood(t *testing.T) {
	unreached := [3]string{"lockscope-leaks", "Unreached nodes", "A"}
	firing := [3]string{"lockscope-overview", "Alerts firing", "A"}
	oldest := [3]string{"lockscope-leaks", "Oldest leak", "A"}
	asked(t, ruletest.Test{Name: "nothing", Interval: "1m", Series: []map[string]any{{"series": "x", "values": "0"}}},
		"absent", map[[3]string]float64{unreached: 1, firing: 1, oldest: 1})
	const node = `{cluster="east",job="s",instance="a",lock_node="`
	const alert = `ALERTS{alertstate="firing",`
	looked := []map[string]any{
		{"series": "distributed_lock_scanner_up" + node + `1"}`, "values": "1x60"},
		{"series": "distributed_lock_scanner_last_success_timestamp_seconds" + node + `1"}`, "values": "3000x60"},
		{"series": "distributed_lock_scanner_oldest_leak_seconds" + node + `1"}`, "values": "0x60"},
		{"series": alert + `alertname="DistributedLockWatchdog",severity="none"}`, "values": "1x60"},
	}
	asked(t, ruletest.Test{Name: "good", Interval: "1m", Series: looked}, "max",
		map[[3]string]float64{unreached: 0, firing: 0, oldest: 0})
	looked = append(looked, map[string]any{"series": "distributed_lock_scanner_up" + node + `2"}`, "values": "0x60"},
		map[string]any{"series": alert + `alertname="DistributedLockLost",cluster="east",job="shop",severity="critical"}`,
			"values": "1x60"})
	asked(t, ruletest.Test{Name: "bad", Interval: "1m", Series: looked}, "max",
		map[[3]string]float64{unreached: 1, firing: 1})
}

// TestAMissingCellIsNoEmptyTable: what a table without rows says is not said in a row that lacks one value.
func TestAMissingCellIsNoEmptyTable(t *testing.T) {
	for uid, d := range drawn(t, config.Default()) {
		for _, p := range d.All() {
			if p.Type != "table" || p.FieldConfig.Defaults.NoValue == "" || len(p.Targets) == 1 {
				continue
			}
			for i, o := range p.FieldConfig.Overrides {
				properties := map[string]any{}
				for _, s := range o.Properties {
					properties[s.ID] = s.Value
				}
				if _, number := properties["unit"]; number && properties["noValue"] != "-" {
					t.Errorf("%s: %s: column %d: no value is %v", uid, p.Title, i+1, properties["noValue"])
				}
			}
		}
	}
}
