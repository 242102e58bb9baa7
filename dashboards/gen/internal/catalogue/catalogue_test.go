package catalogue_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/rulefmt"

	"github.com/lockscope/lockscope/dashboards/gen/internal/catalogue"
	"github.com/lockscope/lockscope/dashboards/gen/internal/promql"
	"github.com/lockscope/lockscope/dashboards/gen/internal/rules"
)

const table = `// Package x.
//
//	name                           type       labels
//	distributed_lock_wait_seconds  histogram  resource
//	distributed_lock_lost_total    counter    resource, reason
//	distributed_lock_node_up       gauge      lock_node
//	distributed_lock_nodes         gauge
package x
`

func read(t *testing.T, text string) (*catalogue.Catalogue, error) {
	path := filepath.Join(t.TempDir(), "doc.go")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return catalogue.Read(path)
}

func TestCheck(t *testing.T) {
	known, err := read(t, table)
	if err != nil {
		t.Fatal(err)
	}
	if err := known.AddRecorded(
		[]rules.File{{Groups: []rules.Group{{Rules: []rulefmt.Rule{{Record: "job_lock_node:up:avg"}}}}}}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ expr, labels, err string }{
		{`distributed_lock_nodes`, "job instance", ""},
		{`sum by (job, reason) (rate(distributed_lock_lost_total{resource="x"}[5m]))`, "job reason", ""},
		{`sum without (reason) (rate(distributed_lock_lost_total[5m]))`, "job instance resource", ""},
		{`histogram_quantile(0.9, sum by (le) (rate(distributed_lock_wait_seconds_bucket[5m])))`, "", ""},
		{`topk(3, distributed_lock_node_up) > 0`, "job instance lock_node", ""},
		{`2 * distributed_lock_nodes`, "job instance", ""},
		{`distributed_lock_node_up * on (job, instance) group_left () distributed_lock_nodes`, "job instance lock_node",
			""},
		{`max by (job) (distributed_lock_node_up) - on (job) max by (job) (distributed_lock_nodes)`, "job", ""},
		{`job_lock_node:up:avg{lock_node="a"}`, "job lock_node", ""},
		{`{__name__=~"distributed_lock_nodes|distributed_lock_node_up", job="x"}`, "job instance", ""},
		{`distributed_lock_nope`, "", "no metric is called distributed_lock_nope"},
		{`{__name__=~"nope.*"}`, "", "no metric is called"},
		{`histogram_count(distributed_lock_wait_seconds)`, "job instance resource", ""},
		{`histogram_quantile(0.9, sum by (job) (rate(distributed_lock_wait_seconds[5m])))`, "job", ""},
		{`distributed_lock_nodes{lock_node="a"}`, "job instance", "has no label lock_node"},
		{`sum by (reason) (distributed_lock_node_up)`, "reason", "has no label reason"},
		{`sum by (instance) (sum by (job) (distributed_lock_node_up))`, "instance", "has no label instance"},
		{`distributed_lock_node_up * on (lock_node) distributed_lock_nodes`, "lock_node",
			"distributed_lock_nodes has no label lock_node"},
		{`histogram_quantile(0.9, sum by (job) (rate(distributed_lock_wait_seconds_bucket[5m])))`, "job",
			"has no label le"},
		{`job_lock_node:up:avg{instance="a"}`, "job lock_node", "has no label instance"},
	} {
		tree, err := promql.Parse(c.expr)
		if err != nil {
			t.Fatal(err)
		}
		labels, err := known.Check(tree)
		if want := strings.Fields(c.labels); !slices.Equal(labels, want) && len(labels)+len(want) > 0 {
			t.Errorf("%s has the labels %v, want %v", c.expr, labels, want)
		}
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v, want %q", c.expr, err, c.err)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	if _, err := read(t, "// Package x has no table.\npackage x\n"); err == nil {
		t.Error("a file without a table is accepted")
	}
	if _, err := catalogue.Read("nowhere.go"); err == nil {
		t.Error("a file that is not there is accepted")
	}
}

func TestLevel(t *testing.T) {
	known, err := read(t, table)
	if err != nil {
		t.Fatal(err)
	}
	err = known.AddRecorded([]rules.File{{Groups: []rules.Group{{Rules: []rulefmt.Rule{{Record: "pod:up:avg"}}}}}})
	if err == nil {
		t.Error("a recorded name that begins with no label is accepted")
	}
}
