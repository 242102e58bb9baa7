package resources

import (
	"fmt"

	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
	"github.com/lockscope/lockscope/dashboards/gen/internal/draw"
)

func resourcesTop(c config.Config) []draw.Panel {
	top := func(title, unit, expr, about string) draw.Panel {
		return draw.Panel{Kind: draw.TopList, Title: title, About: about, Unit: unit, Decimals: draw.Auto,
			Width: draw.Third, Height: draw.ChartHeight,
			Zero: true,
			Queries: []draw.Query{{Expr: fmt.Sprintf("topk(%d, %s)", c.Boards.Top, expr), Legend: "{{job}} {{resource}}",
				Instant: true}}, Links: []draw.Link{draw.ToResource()}, Steps: draw.Neutral()}
	}
	const by = "$JOB, resource"
	return []draw.Panel{
		top("Most time spent waiting", "s", waited(by),
			"Time that callers waited in the time shown, calls in progress included. Start here when things are slow. Good: "+
				"a small part of the time shown, times the number of callers."),
		top("Busiest", "short", `sum by (`+by+`) (increase(distributed_lock_wait_seconds_count{R}[$__range]))`,
			"Acquires in the time shown. Good: what you expect. Consider splitting a resource that is busy and contended."),
		top("Most attempts per acquire", "short", `sum by (`+by+`) (increase(distributed_lock_attempts_total{R}[$__range]))
			/ (sum by (`+by+`) (increase(distributed_lock_wait_seconds_count{R}[$__range])) > 0)`,
			"Voting rounds per acquire, in the time shown. Good: 1 to 2. Higher: holders keep it long, or many callers ask "+
				"at once."),
	}
}

func resourcesLosses(c config.Config) []draw.Panel {
	// Every pair of resource and reason has a counter that starts at 0. Only pairs with losses get a line.
	const lost = `sum by ($JOB, resource, reason) (rate(distributed_lock_lost_total{R}[$__rate_interval]))
		and sum by ($JOB, resource, reason) (increase(distributed_lock_lost_total{R}[$__range])) > 0`
	return []draw.Panel{
		draw.Chart("Leases lost by reason", "ops", draw.Third, draw.History(lost, "{{job}} {{resource}} {{reason}}"),
			"Good: no line. extend_failed: too few nodes answered. taken_over: a quorum no longer had the lease. "+
				"expired: nothing renewed it. max_hold: it reached its MaxHold.").Rare().Otherwise("none lost").
			Linking(draw.ToResource()).Largest(c.Boards.Top),
		draw.Chart("Release failures by resource", "ops", draw.Third,
			draw.History(`sum by ($JOB, resource) (rate(distributed_lock_release_failures_total{R}[$__rate_interval]))`,
				"{{job}} {{resource}}"),
			"Good: none. Together with losses: leases ended early. Alone: nodes do not answer.").Rare().
			Linking(draw.ToResource()).Largest(c.Boards.Top),
		draw.Chart("Measurement errors", "ops", draw.Third, []draw.Query{
			{Expr: `sum by ($JOB) (rate(distributed_lock_resource_overflow_total{I}[$__rate_interval]))`,
				Legend: "{{job}} counted as other"},
			{Expr: `sum by ($JOB) (rate(distributed_lock_observer_panics_total{I}[$__rate_interval]))`,
				Legend: "{{job}} observer panics"},
		},
			"Good: none. Counted as other: more resource names than the limit. Fold ids with a label function. "+
				"Panics: a label function, tracer or log handler panicked. Locking goes on.").Rare(),
	}
}
