package sweep

import (
	"context"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
	"github.com/lockscope/lockscope/scanner/internal/clock"
	"github.com/lockscope/lockscope/scanner/internal/coverage"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/node"
	"github.com/lockscope/lockscope/scanner/internal/orphan"
	"github.com/lockscope/lockscope/scanner/internal/registry"
	"github.com/lockscope/lockscope/scanner/report"
)

// nodeSweep is one master in one sweep. One goroutine at a time uses it.
type nodeSweep struct {
	node.Connection
	cfg      *Settings
	reader   *keyreader.Reader
	memory   *remembered
	findings *registry.Findings
	orphans  *orphan.Redlock
	values   *coverage.Values
	report   report.NodeReport
	covered  *coverage.Node

	begins   bool  // no sweep has seen all locks before this one
	excluded []int // findings kept out, by exclusion
	view     node.ClusterView
}

func newNodeSweep(
	c node.Connection, cfg *Settings, m *remembered, l *registry.Findings, o *orphan.Redlock, v *coverage.Values,
) *nodeSweep {
	n := &nodeSweep{
		Connection: c, cfg: cfg, reader: keyreader.New(c.Master, c.Pages, cfg.query(), m.capability),
		memory: m, findings: l, orphans: o, values: v, report: newNodeReport(c.Node),
		excluded: make([]int, len(cfg.Rules.Exclusions)), begins: !m.watch.Began(),
	}
	n.covered = coverage.NewNode(c, &n.report, cfg.Now)
	return n
}

func newNodeReport(name string) report.NodeReport {
	return report.NodeReport{Node: name, Counts: map[inspect.Class]int{}}
}

// fail records why the node was not swept to its end. What the end of the sweep cuts off is truncated, not failed.
func fail(ctx context.Context, r *report.NodeReport, op string, err error) {
	r.Truncated = true
	if !clock.Ended(ctx) {
		r.Err = &report.NodeError{Node: r.Node, Op: op, Err: redisconn.Scrub(err)}
	}
}

// gauge says how large the pages of a node are, and how long the node is left alone after each.
type gauge struct {
	node  *nodeSweep
	pacer *clock.Pacer // nil before the first pause, and if pauses are flat
}

func (n *nodeSweep) gauge() *gauge { return &gauge{node: n} }

func (g *gauge) count() int {
	if g.pacer == nil {
		return g.node.cfg.Scope.PageSize
	}
	return g.pacer.Count(g.node.trips())
}

// pause reports whether ctx lasted as long as the pause. A pass of one page sends no probes.
func (g *gauge) pause(ctx context.Context) bool {
	scope := &g.node.cfg.Scope
	if !scope.Adaptive {
		return clock.Pause(ctx, scope.Pause)
	}
	if g.pacer == nil {
		g.pacer = clock.StartPacer(ctx, scope.PageSize, scope.Pause, g.node.probe)
	}
	return g.pacer.Pause(ctx)
}

func (g *gauge) stop() {
	if g.pacer != nil {
		g.pacer.Stop()
	}
}

// probe is a small command that needs no other right than those of the pages, unlike PING. It takes any answer.
func (n *nodeSweep) probe(ctx context.Context) error {
	err := n.Pages.Scan(ctx, 0, "", 1).Err()
	if redisconn.IsReply(err) {
		return nil
	}
	return err
}

// trips returns how many round trips a page usually takes: one for a script, and else one for SCAN and three for the
// pipelines. Comparing its locks with the other nodes takes another one.
func (n *nodeSweep) trips() int {
	trips := 1
	if !n.reader.Scripted() {
		trips = 4
	}
	if n.cfg.Rules.Checks[inspect.Orphan] && n.orphans.Possible() {
		trips++
	}
	return trips
}
