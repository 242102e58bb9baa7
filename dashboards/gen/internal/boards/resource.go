package boards

import (
	"fmt"

	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
	"github.com/lockscope/lockscope/dashboards/gen/internal/rules"
)

func resourceBoard(c config.Config) board {
	o := objectivesOf(c)
	return board{
		uid: "lockscope-resource", title: "Distributed locks / Resource", from: "now-3h",
		about: "One resource in depth: its waits, who holds it and for how long, who asks again and again, who loses it.",
		variables: append(append(processes("distributed_lock_wait_seconds_count"), resources(true)),
			searchVariables(c)...),
		marks: []mark{losses("{R}")},
		rows: []row{
			{title: "$resource at a glance", panels: resourceTiles(c, o)},
			{title: "Who holds it", panels: resourceHolders(c)},
			{title: "Waits", panels: waits(o.Within)},
			{title: "Outcomes", panels: resourceOutcomes(c, o)},
			{title: "Hold times and TTL", panels: resourceHolding()},
			folded("Contention", resourceContention(c)),
			folded("Lost leases", resourceLosses(c)),
			searched(c),
		},
	}
}

const holdRate = `sum by (le) (rate(distributed_lock_hold_seconds_bucket{R}[$__rate_interval]))`

func resourceTiles(c config.Config, o objectives) []panel {
	return []panel{
		tile("Availability", "percentunit", 3, atLeast(o.Availability), now(o.availability("")),
			"Share of acquires in the time shown that got the "+
				"lock. Good: "+percent(o.Availability)+" % or more. Below it, see Acquires by outcome."),
		tile("Error budget left", "percentunit", 1, budgetLeft(), now("min("+o.availabilityLeftOfPeriod()+")"),
			"What is left of the failures that this resource may have in "+o.Period.String()+
				". Good: above 50 %. Below 0 the "+
				"objective is broken. Needs the recording rules."),
		tile("Wait budget left", "percentunit", 1, budgetLeft(), now("min("+o.waitLeftOfPeriod()+")"),
			"What is left of the slow waits that this resource may have in "+o.Period.String()+
				". Good: above 50 %. Below 0 "+
				"the objective is broken. Needs the recording rules."),
		tile("Wait p99", "s", auto, above(c.Alerts.WaitP99Seconds),
			course("histogram_quantile(0.99, "+waitRate+")", ""),
			fmt.Sprintf("One acquire in a hundred waits for longer. Good: far below %v s.", c.Alerts.WaitP99Seconds)),
		tile("Waiting now", "short", 0, steps(green, step{c.Alerts.Waiters, orange}, step{10 * c.Alerts.Waiters, red}),
			course(`sum(distributed_lock_waiting{R})`, ""),
			"Callers that wait for it. Good: comes and goes. Growing: see who holds it, in the table below or with "+
				"`lockscope list`."),
		tile("Hold p99", "s", auto, neutral(), course("histogram_quantile(0.99, "+holdRate+")", ""),
			"One lease in a hundred is held for longer. Good: far below the waits that callers can bear: each of them has to "+
				"wait for whole holds."),
		tile("Attempts/acquire", "short", 1, above(c.Alerts.AttemptsPerAcquire), course(attemptsPerAcquire(""), ""),
			"Rounds of voting per acquire. Good: 1 to 2. Long holds raise it harmlessly; many attempts a second do not get "+
				"anybody the lock sooner."),
		tile("Leases lost", "short", 0, anyIsBad(),
			now(`sum(increase(distributed_lock_lost_total{R,reason!="max_hold"}[$__range]))`),
			"Leases in the time shown that ended while they were in use. Good: 0. See Lost leases for the process and "+
				"the reason."),
	}
}

func attemptsPerAcquire(by string) string {
	return fmt.Sprintf(`sum%[1]s (rate(distributed_lock_attempts_total{R}[$__rate_interval]))
		/ (sum%[1]s (rate(distributed_lock_wait_seconds_count{R}[$__rate_interval])) > 0)`, by)
}

func resourceOutcomes(c config.Config, o objectives) []panel {
	var failing, slow []query
	for _, w := range o.Windows {
		failing = append(failing, query{expr: fmt.Sprintf("max(%s{S} / (1 - %v))", rules.FailureRatio(w.Long),
			o.Availability), legend: "failures, " + w.Long.String()})
		slow = append(slow, query{expr: fmt.Sprintf("max(%s{S} / (1 - %v))", rules.SlowRatio(w.Long), o.Wait),
			legend: "slow waits, " + w.Long.String()})
	}
	return []panel{
		chart("Acquires by outcome", "ops", third,
			course(`sum by (outcome) (rate(distributed_lock_acquisitions_total{R}[$__rate_interval]))`, "{{outcome}}"),
			"How acquires end. Good: acquired, and contended where callers do not want to wait. timeout: they gave up waiting; "+
				"no_quorum: too few nodes, see Nodes; canceled: their caller went away.").stacked().tinted(
			outcomeTints()),
		chart("Failures by process", "ops", third,
			course(`sum by ($JOB, instance) (rate(distributed_lock_failures_total{R}[$__rate_interval]))`,
				"{{job}} {{instance}}"),
			"Acquires a second that ended without the lock. Good: none. One process alone: its network or its deadline; all: "+
				"the holder or the nodes.").rare().largest(c.Boards.Top),
		chart("Error budget burn rates", "short", third, append(failing, slow...),
			"How many times faster than planned the budgets are used up, over each window of the alerts. Good: all below 1. An "+
				"alert fires when a window is above its factor. Needs the recording rules.").burning(o.SLO),
	}
}

// resourceHolders says who has the lock, and how it goes from one to the next.
func resourceHolders(c config.Config) []panel {
	return []panel{
		holders(c, "Processes that hold and wait", "$JOB, instance", 6),
		chart("Held by process", "short", third,
			course(`sum by ($JOB, instance) (distributed_lock_held{R})`, "{{job}} {{instance}}"),
			"Who holds it. Good: it changes hands. A line that stays at 1 while others wait is the process to look at: the "+
				"table says since when.").stacked().largest(c.Boards.Top),
		chart("Hand-overs", "ops", third, []query{
			{expr: `sum(rate(distributed_lock_handovers_total{R}[$__rate_interval]))`, legend: "hand-overs"},
			{expr: `sum(rate(distributed_lock_hold_seconds_count{R}[$__rate_interval]))`, legend: "releases"}},
			"Leases that went straight to the next waiter of the same process, among all that ended, each second. Good: "+
				"follows the load. Many waiters and no hand-overs: they are spread over processes, and each is woken by Redis."),
		chart("Deadlocks", "ops", third,
			course(`sum by ($JOB, instance) (rate(distributed_lock_deadlocks_total{R}[$__rate_interval]))`,
				"{{job}} {{instance}}"),
			"Cycles of callers of one process that wait for one another, each second. Good: none. Take locks in the same order "+
				"everywhere; the log names the cycle. Cycles over several processes are on Leaks.").rare().largest(
			c.Boards.Top),
	}
}

func resourceHolding() []panel {
	// A mean is exact; between buckets that are seconds wide a quantile would be a guess.
	validity := query{legend: "validity, mean",
		expr: `sum(rate(distributed_lock_validity_seconds_sum{R}[$__rate_interval]))
			/ (sum(rate(distributed_lock_validity_seconds_count{R}[$__rate_interval])) > 0)`}
	return []panel{
		chart("Hold time p50, p95, p99 and validity", "s", half,
			append(quantiles(holdRate, " held", .5, .95, .99), validity),
			"How long leases are held, and for how long a fresh one is valid (its TTL less the time it took). Good: p99 held "+
				"below the validity: then most work is done before the first renewal matters. Above it work depends on renewals, "+
				"and a holder that dies blocks the others for a TTL. The axis is logarithmic.").traced().onLogAxis(),
		heatMap("Hold time distribution", half, holdRate,
			"Every lease by how long it was held; the more of them, the more a cell stands out. Good: one band, well below the "+
				"TTL. A band far up is work that should not be done under the lock.").traced(),
		chart("Renewals by outcome", "ops", full,
			course(`sum by (outcome) (rate(distributed_lock_extensions_total{R}[$__rate_interval]))`, "{{outcome}}"),
			"Rounds of renewal. Good: only ok, and overtaken, where the lease was released before the round was over. error: a "+
				"round could not tell and is repeated; lost: a quorum said no, the lease is gone.").
			stacked().rare().tinted([]tint{{"ok", green}, {"overtaken", "gray"}, {"error", orange}, {"lost", red}}),
	}
}

func resourceContention(c config.Config) []panel {
	return []panel{
		chart("Attempts per acquire by process", "short", third,
			course(attemptsPerAcquire(" by ($JOB, instance)"), "{{job}} {{instance}}"),
			"Rounds of voting per acquire. Good: 1 to 2, and alike in all processes. One process far above the others does not "+
				"hear the wake-ups: look at its connections.").marked(above(c.Alerts.AttemptsPerAcquire)).largest(
			c.Boards.Top),
		chart("Waiting by process", "short", third,
			course(`sum by ($JOB, instance) (distributed_lock_waiting{R})`, "{{job}} {{instance}}"),
			"Callers that wait, by where they are. Good: few, spread evenly. Within a process they wait in line, and only the "+
				"first contends.").stacked().largest(c.Boards.Top),
		chart("Long waits by process", "ops", third,
			course(`sum by ($JOB, instance) (rate(distributed_lock_long_waits_total{R}[$__rate_interval]))`,
				"{{job}} {{instance}}"),
			"Acquires a second that waited for longer than the threshold of the long-wait log. Good: none. The log line of "+
				"each names the holder.").rare().largest(c.Boards.Top),
	}
}

func resourceLosses(c config.Config) []panel {
	by := " by ($JOB, instance, reason)"
	return []panel{
		chart("Leases lost by reason", "ops", quarter,
			course(`sum by (reason) (rate(distributed_lock_lost_total{R}[$__rate_interval]))`, "{{reason}}"),
			"Good: none. extend_failed: too few nodes answered; taken_over: a quorum forgot it; expired: nothing renewed it, "+
				"or the process stood still; max_hold: it was held for as long as allowed.").stacked().rare(),
		{kind: grid, title: "Leases lost by process", w: half, h: chartHeight, unit: "short", decimals: 0,
			none: "none lost",
			about: "Which process lost how many leases in the time shown, and why. Good: empty. One process alone stands " +
				"still (garbage collection, CPU limit, suspension) or is cut off; all at once is the nodes.",
			queries: now(fmt.Sprintf("topk(%d, sum%s (increase(distributed_lock_lost_total{R}[$__range])) > 0)",
				c.Boards.Top,
				by)),
			columns: []column{{title: "Lost", unit: "short", decimals: 1, steps: anyIsBad()}}},
		chart("Release failures by process", "ops", quarter,
			course(`sum by ($JOB, instance) (rate(distributed_lock_release_failures_total{R}[$__rate_interval]))`,
				"{{job}} {{instance}}"),
			"Releases that found the lease gone, or could not tell. Good: none. The next holder waits for the rest of the TTL, "+
				"or there was one already.").rare().largest(c.Boards.Top),
	}
}
