// Package resources has the boards of resources: [All] compares them and [One] shows one in depth. The overview repeats
// some of their panels.
package resources

import (
	"fmt"

	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
	"github.com/lockscope/lockscope/dashboards/gen/internal/draw"
	"github.com/lockscope/lockscope/dashboards/gen/internal/rules"
)

// One is the board of a single resource.
func One(c config.Config) draw.Board {
	o := ObjectivesOf(c)
	return draw.Board{
		UID: "lockscope-resource", Title: "Distributed locks / Resource", From: "now-3h",
		About: "One resource in depth: its waits, its holders and their hold times, its retries, its lost leases.",
		Variables: append(append(draw.Processes("distributed_lock_waiting"), draw.OneResource()),
			searchVariables(c)...),
		Marks: []draw.Mark{draw.Losses()},
		Rows: []draw.Row{
			{Title: "$resource at a glance", Panels: resourceTiles(c, o)},
			{Title: "What callers wait for", Panels: []draw.Panel{WaitClasses().Wide(draw.Third),
				Blame(c).Sized(2*draw.Third, draw.ChartHeight)}},
			{Title: "Who holds it", Panels: resourceHolders(c)},
			{Title: "Waits", Panels: waits(o.Within)},
			{Title: "Outcomes", Panels: resourceOutcomes(c, o)},
			{Title: "Hold times and TTL", Panels: resourceHolding()},
			draw.Folded("Contention", resourceContention(c)),
			draw.Folded("Lost leases", resourceLosses(c)),
			searched(c),
		},
	}
}

const holdRate = `sum by (le) (rate(distributed_lock_hold_seconds_bucket{R}[$__rate_interval]))`

// resourceTiles show the present state first, then the time shown.
func resourceTiles(c config.Config, o Objectives) []draw.Panel {
	return []draw.Panel{
		LongestWait(c).Naming("{{job}}"), WaitingNow(c), AcquiresNow(),
		draw.Tile("Leases lost", "short", 0, draw.AnyIsBad(),
			draw.Now(`sum(increase(distributed_lock_lost_total{R,reason!="max_hold"}[$__range]))`),
			"Leases in the time shown that ended in use. Good: 0. See Lost leases for the process and the reason."),
		draw.Tile("Wait p99", "s", draw.Auto, draw.Above(c.Alerts.WaitP99Seconds),
			draw.Now("histogram_quantile(0.99, "+waitRate+")"),
			fmt.Sprintf("One acquire in a hundred waits longer. Good: far below %v s. No data: no acquire ends now.",
				c.Alerts.WaitP99Seconds)),
		draw.Tile("Hold p99", "s", draw.Auto, draw.Neutral(), draw.Now("histogram_quantile(0.99, "+holdRate+")"),
			"One lease in a hundred is held longer. Good: far below the wait that callers can bear: each caller waits "+
				"for whole holds. No data: no lease ends now."),
		draw.Tile("Availability", "percentunit", 3, draw.AtLeast(o.Availability), draw.Now(o.Available("")),
			"Share of acquires in the time shown that got the lock; those that stalled calls prevent count as failed. "+
				"Good: "+Percent(o.Availability)+" % or more. If it is lower, see Acquires by outcome. No data: no acquires, "+
				"or an election."),
		draw.Tile("Error budget left", "percentunit", 1, draw.BudgetLeft(), draw.Now("min("+o.AvailabilityLeftOfPeriod()+")"),
			"Failures that this resource may still have in "+o.Period.String()+
				", as a share of its budget. Good: above 50 %. Below 0 the objective is broken. Needs the recording "+
				"rules."),
	}
}

func attemptsPerAcquire(by string) string {
	return fmt.Sprintf(`sum%[1]s (rate(distributed_lock_attempts_total{R}[$__rate_interval]))
		/ (sum%[1]s (rate(distributed_lock_wait_seconds_count{R}[$__rate_interval])) > 0)`, by)
}

func resourceOutcomes(c config.Config, o Objectives) []draw.Panel {
	var failing, slow []draw.Query
	for _, w := range o.Windows {
		failing = append(failing, draw.Query{Expr: fmt.Sprintf("max(%s{S} / (1 - %v))", rules.FailureRatio(w.Long),
			o.Availability), Legend: "failures, " + w.Long.String()})
		slow = append(slow, draw.Query{Expr: "max(" + o.WaitBurn(w.Long) + ")",
			Legend: "slow waits, " + w.Long.String()})
	}
	return []draw.Panel{
		AcquiresByOutcome().Wide(draw.Third),
		draw.Chart("Failures by process", "ops", draw.Third,
			draw.History(`sum by ($JOB, instance) (rate(distributed_lock_failures_total{R}[$__rate_interval]))`,
				"{{job}} {{instance}}"),
			"Failed acquires per second. Good: none. One process: its network or its deadline. All processes: the "+
				"holder or the nodes.").Rare().Largest(c.Boards.Top),
		o.Burning(draw.Chart("Error budget burn rates", "short", draw.Third, append(failing, slow...),
			"Failures and slow waits as a multiple of what the budgets allow, over each window of the alerts. Good: "+
				"all below 1. An alert fires when a window is above its factor. Needs the recording rules.")),
	}
}

// resourceHolders shows the holders of the lock and its hand-overs.
func resourceHolders(c config.Config) []draw.Panel {
	return []draw.Panel{
		holders(c, "Processes that hold and wait", "$JOB, instance", 6),
		draw.Chart("Held by process", "short", draw.Third,
			draw.History(`sum by ($JOB, instance) (distributed_lock_held{R})`, "{{job}} {{instance}}"),
			"Who holds it. Good: it changes hands. A line that stays at 1 while others wait is the process to look "+
				"at. The table shows how long it has held the lock.").Stacked().Largest(c.Boards.Top),
		draw.Chart("Hand-overs", "ops", draw.Third, []draw.Query{
			{Expr: `sum(rate(distributed_lock_handovers_total{R}[$__rate_interval]))`, Legend: "hand-overs"},
			{Expr: `sum(rate(distributed_lock_hold_seconds_count{R}[$__rate_interval]))`, Legend: "releases"}},
			"Leases per second that went straight to the next waiter of the same process, beside all that ended. "+
				"Good: follows the load. Many waiters and no hand-overs: the waiters are in different processes, and "+
				"the nodes wake each."),
		draw.Chart("Deadlocks", "ops", draw.Third,
			draw.History(`sum by ($JOB, instance) (rate(distributed_lock_deadlocks_total{R}[$__rate_interval]))`,
				"{{job}} {{instance}}"),
			"Cycles per second of callers that wait for one another within one process. Good: none. Take locks in the "+
				"same order everywhere. The log names the cycle. Leaks shows cycles across processes.").Rare().Largest(
			c.Boards.Top),
	}
}

func resourceHolding() []draw.Panel {
	// A mean is exact. A quantile within buckets that are seconds wide would be a guess.
	validity := draw.Query{Legend: "validity, mean",
		Expr: `sum(rate(distributed_lock_validity_seconds_sum{R}[$__rate_interval]))
			/ (sum(rate(distributed_lock_validity_seconds_count{R}[$__rate_interval])) > 0)`}
	return []draw.Panel{
		draw.Chart("Hold time p50, p95, p99 and validity", "s", draw.Half,
			append(draw.Quantiles(holdRate, " held", .5, .95, .99), validity),
			"How long leases are held, and how long a fresh lease is valid: its TTL less the time of the acquire. "+
				"Good: p99 held below the validity. Above it, work depends on renewals, and a dead holder blocks the "+
				"others for a TTL. Each label of the axis is ten times the one below.").Traced().OnLogAxis(),
		draw.HeatMap("Hold time distribution", draw.Half, holdRate,
			"Leases by hold time. Fuller cells stand out. Good: one band, well below the TTL. A band far up is work "+
				"that should not be done under the lock.").Traced(),
		draw.Chart("Renewals by outcome", "ops", draw.Full,
			draw.History(`sum by (outcome) (rate(distributed_lock_extensions_total{R}[$__rate_interval]))`, "{{outcome}}"),
			"Renewal rounds. Good: only ok, and overtaken: the lease was released during the round. error: the result "+
				"is unknown and the round is repeated. lost: a quorum said no, and the lease is lost.").
			Stacked().Rare().Tinted(draw.In(draw.Green, "ok"), draw.In("gray", "overtaken"), draw.In(draw.Orange, "error"),
			draw.In(draw.Red, "lost")),
	}
}

func resourceContention(c config.Config) []draw.Panel {
	return []draw.Panel{
		draw.Chart("Attempts per acquire by process", "short", draw.Third,
			draw.History(attemptsPerAcquire(" by ($JOB, instance)"), "{{job}} {{instance}}"),
			"Voting rounds per acquire. Good: 1 to 2, and similar in all processes. One process far above the others "+
				"misses the wake-ups: look at its connections.").Marked(draw.Above(c.Alerts.AttemptsPerAcquire)).Largest(
			c.Boards.Top),
		draw.Chart("Waiting by process", "short", draw.Third,
			draw.History(`sum by ($JOB, instance) (distributed_lock_waiting{R})`, "{{job}} {{instance}}"),
			"Callers that wait, by process. Good: few, spread evenly. Within a process they queue, and only the first "+
				"contends.").Stacked().Largest(c.Boards.Top),
		draw.Chart("Long waits by process", "ops", draw.Third,
			draw.History(`sum by ($JOB, instance) (rate(distributed_lock_long_waits_total{R}[$__rate_interval]))`,
				"{{job}} {{instance}}"),
			"Acquires per second that waited longer than the threshold of the long-wait log. Good: none. The log "+
				"record of each names the holder.").Rare().Largest(c.Boards.Top),
	}
}

func resourceLosses(c config.Config) []draw.Panel {
	by := " by ($JOB, instance, reason)"
	return []draw.Panel{
		draw.Chart("Leases lost by reason", "ops", draw.Quarter,
			draw.History(`sum by (reason) (rate(distributed_lock_lost_total{R}[$__rate_interval]))`, "{{reason}}"),
			"Good: none. extend_failed: too few nodes answered. taken_over: a quorum no longer had the lease. "+
				"expired: nothing renewed it, or the process was paused. max_hold: it reached its MaxHold.").Stacked().Rare(),
		{Kind: draw.Table, Title: "Leases lost by process", Width: draw.Half, Height: draw.ChartHeight, Unit: "short",
			Decimals: 0,
			None:     "none lost",
			About: "Leases lost in the time shown, by process and reason. Good: empty. One process: it was paused " +
				"(garbage collection, CPU limit, suspension) or is cut off. All processes: the nodes.",
			Queries: draw.Now(fmt.Sprintf("topk(%d, sum%s (increase(distributed_lock_lost_total{R}[$__range])) > 0)",
				c.Boards.Top,
				by)),
			Columns: []draw.Column{{Title: "Lost", Unit: "short", Decimals: 1, Steps: draw.AnyIsBad()}}},
		draw.Chart("Release failures by process", "ops", draw.Quarter,
			draw.History(`sum by ($JOB, instance) (rate(distributed_lock_release_failures_total{R}[$__rate_interval]))`,
				"{{job}} {{instance}}"),
			"Failed releases: the lease was gone, or the nodes did not confirm. Good: none. The next holder waits for "+
				"the rest of the TTL, or has already overlapped.").Rare().Largest(c.Boards.Top),
	}
}
