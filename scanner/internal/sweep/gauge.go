package sweep

import (
	"context"

	"github.com/lockscope/lockscope/lock/redlock/redisconn"
	"github.com/lockscope/lockscope/scanner/internal/clock"
	"github.com/lockscope/lockscope/scanner/internal/pace"
)

// gauge says how large the pages of a node are, and how long the node is left alone after each.
type gauge struct {
	node  *nodeSweep
	pacer *pace.Pacer // nil before the first pause, and if pauses are flat
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
		g.pacer = pace.Start(ctx, scope.PageSize, scope.Pause, g.node.probe)
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
	if n.orphans.Possible() {
		trips++
	}
	return trips
}
