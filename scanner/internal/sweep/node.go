package sweep

import (
	"context"

	"github.com/lockscope/lockscope/lock/redlock/redisconn"
	"github.com/lockscope/lockscope/scanner/internal/clock"
	"github.com/lockscope/lockscope/scanner/internal/coverage"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/ledger"
	"github.com/lockscope/lockscope/scanner/internal/node"
	"github.com/lockscope/lockscope/scanner/internal/orphan"
	"github.com/lockscope/lockscope/scanner/internal/proof"
	"github.com/lockscope/lockscope/scanner/internal/server"
	"github.com/lockscope/lockscope/scanner/report"
)

// nodeSweep is one master in one sweep. One goroutine at a time uses it.
type nodeSweep struct {
	node.Connection
	cfg     *Settings
	reader  *keyreader.Reader
	memory  *remembered
	ledger  *ledger.Ledger
	orphans *orphan.Redlock
	values  *proof.Values
	report  report.NodeReport
	covered *coverage.Node

	begins   bool  // no sweep has seen all locks before this one
	excluded []int // findings kept out, by exclusion
	view     server.ClusterView
}

func newNodeSweep(
	c node.Connection, cfg *Settings, m *remembered, l *ledger.Ledger, o *orphan.Redlock, v *proof.Values,
) *nodeSweep {
	n := &nodeSweep{
		Connection: c, cfg: cfg, reader: c.Reader(cfg.query(), m.capability),
		memory: m, ledger: l, orphans: o, values: v, report: newNodeReport(c.Node),
		excluded: make([]int, len(cfg.Rules.Exclusions)), begins: !m.watch.Began(),
	}
	n.covered = coverage.NewNode(c, &n.report, cfg.Now)
	return n
}

func newNodeReport(name string) report.NodeReport {
	return report.NodeReport{Node: name, Counts: map[report.Class]int{}}
}

// fail records why the node was not swept to its end. What the end of the sweep cuts off is truncated, not failed.
func fail(ctx context.Context, r *report.NodeReport, op string, err error) {
	r.Truncated = true
	if !clock.Ended(ctx) {
		r.Err = &report.NodeError{Node: r.Node, Op: op, Err: redisconn.Scrub(err)}
	}
}
