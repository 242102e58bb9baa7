package boards_test

import (
	"strings"
	"testing"

	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
	"github.com/lockscope/lockscope/dashboards/gen/internal/rules"
)

// TestOutage: in a total outage no acquire ends and no queue is read. A share of failures counts what stalled calls
// prevent, and the numbers of a queue end with its last reading.
func TestOutage(t *testing.T) {
	shares, queues := 0, 0
	for uid, d := range drawn(t, config.Default()) {
		for _, q := range d.Queries() {
			if strings.Contains(q.Expr, "distributed_lock_failures_total") && strings.Contains(q.Expr, "/") {
				if shares++; !strings.Contains(q.Expr, rules.Unserved) {
					t.Errorf("%s: %s leaves out what is prevented: %s", uid, q.Panel, q.Expr)
				}
			}
			for _, metric := range []string{"waiting_calls", "blocked_locks", "longest_wait_seconds", "deadlocks"} {
				if !strings.Contains(q.Expr, "distributed_lock_scanner_"+metric+"{") {
					continue
				}
				if queues++; !strings.Contains(q.Expr, "waits_last_success_timestamp_seconds") {
					t.Errorf("%s: %s shows queues that are not read: %s", uid, q.Panel, q.Expr)
				}
			}
		}
	}
	if shares < 3 || queues != 4 {
		t.Errorf("%d shares, %d numbers of queues", shares, queues)
	}
}

// TestNothingToShow: a tile without a value says what that means, if its panel does.
func TestNothingToShow(t *testing.T) {
	said := map[string]string{"No spare vote": "no round won", "Wait p99": "no data"}
	for _, d := range drawn(t, config.Default()) {
		for _, p := range d.All() {
			want, ok := said[p.Title]
			if !ok || p.Type != "stat" {
				continue
			}
			if m := p.FieldConfig.Defaults.Mappings; len(m) != 1 || !strings.Contains(string(m[0]), `"text":"`+want+`"`) &&
				!strings.Contains(string(m[0]), `"text": "`+want+`"`) {
				t.Errorf("%s: %s; want %q", p.Title, m, want)
			}
			delete(said, p.Title)
		}
	}
	if len(said) > 0 {
		t.Errorf("no tile %v", said)
	}
}

// TestCandidatesStandBy: what says how long callers wait, or how many do, leaves out elections.
func TestCandidatesStandBy(t *testing.T) {
	panels := map[string]int{"Longest wait now": 1, "Waiting now": 1, "Oldest waiting call": 1,
		"Waiting above the objective": 1, "Most contended resources": 1, "Failed acquires by resource": 1,
		"Waiting by resource": 1, "Queue drain time": 1}
	for uid, d := range drawn(t, config.Default()) {
		for _, q := range d.Queries() {
			if panels[q.Panel] == 0 {
				continue
			}
			if panels[q.Panel]++; !strings.Contains(q.Expr, "unless on (cluster, job, resource) distributed_lock_candidates") {
				t.Errorf("%s: %s counts candidates: %s", uid, q.Panel, q.Expr)
			}
		}
	}
	for title, n := range panels {
		if n < 2 {
			t.Errorf("no panel %s", title)
		}
	}
}
