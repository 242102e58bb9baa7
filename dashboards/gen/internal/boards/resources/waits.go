package resources

import (
	"github.com/lockscope/lockscope/dashboards/gen/internal/draw"
	"github.com/lockscope/lockscope/dashboards/gen/internal/rules"
)

const prevented = "prevented by stalled calls"

// outcomeTints colours the outcomes of acquires, from good to bad.
func outcomeTints() []draw.Tint {
	return []draw.Tint{draw.In(draw.Green, "acquired"), draw.In(draw.Blue, "contended"),
		draw.In(draw.Purple, "canceled"), draw.In(draw.Orange, "timeout"),
		draw.In(draw.Red, "no_quorum"), draw.In("dark-red", "error"), draw.In("semi-dark-red", prevented)}
}

const waitRate = `sum by (le) (rate(distributed_lock_wait_seconds_bucket{R}[$__rate_interval]))`

func waits(good float64) []draw.Panel {
	return []draw.Panel{
		draw.Chart("Wait time p50, p95, p99", "s", draw.Half, draw.Quantiles(waitRate, "", .5, .95, .99),
			"Time from the call of Acquire to its return, whatever the outcome. Good: p99 below the dashed line. Each "+
				"dot is one acquire: click it for its trace, which links to the holder that it waited for.").
			Marked(draw.Steps(draw.Green, draw.At(good, draw.Orange), draw.At(1, draw.Red))).Traced(),
		draw.HeatMap("Wait time distribution", draw.Half, waitRate,
			"Acquires by wait. Fuller cells stand out. Good: those are at the bottom. A second band further up is "+
				"callers that wait for a whole hold, or for the TTL of a dead holder.").Traced(),
	}
}

// AcquiresByOutcome adds the acquires that stalled calls prevent, which end as nothing.
func AcquiresByOutcome() draw.Panel {
	const ended = `(rate(distributed_lock_acquisitions_total{R}[$__rate_interval]))`
	return draw.Chart("Acquires by outcome", "ops", draw.Half, []draw.Query{
		{Expr: `sum by (outcome) ` + ended, Legend: "{{outcome}}"},
		{Expr: `sum(` + rules.Unserved + `{S}) or 0 * sum ` + ended, Legend: prevented}},
		"How acquires end. Good: acquired, and contended for callers that do not wait. timeout: the caller gave up "+
			"waiting. no_quorum: too few nodes, see Nodes. canceled: the caller cancelled. prevented: calls have waited for "+
			"nodes instead.").Stacked().Tinted(outcomeTints()...)
}
