package boards

import (
	"fmt"

	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
	"github.com/lockscope/lockscope/dashboards/gen/internal/rules"
)

func overviewBoard(c config.Config) board {
	o := objectivesOf(c)
	return board{
		uid: "lockscope-overview", title: "Distributed locks / Overview", from: "now-3h",
		about: "Health, firing alerts, who holds and who waits, and the objectives. The folded rows have the rest. " +
			"Objectives: " + o.promise() + ".",
		variables: append(processes("distributed_lock_wait_seconds_count", "distributed_lock_scanner_up"),
			resources(false)),
		marks: []mark{losses("{R}")},
		rows: []row{
			{title: "Health", panels: health(c, o)},
			{title: "What fires", panels: firingPanels(c)},
			{title: "Who holds and who waits",
				panels: append([]panel{holders(c, "Holders and waiters", "$JOB, instance, resource", 8)},
					underWay(c)...)},
			{title: "Objectives", panels: overviewObjectives(c, o)},
			folded("Totals", overviewTotals(c, o)),
			folded("Waits", waits(o.Within)),
			folded("Outcomes and queues", overviewOutcomes(c, o)),
			folded("Top resources", overviewTop(c)),
			folded("Lost leases and measurement errors", overviewLosses(c)),
		},
	}
}

func overviewTotals(c config.Config, o objectives) []panel {
	period := " in " + o.Period.String()
	all := []panel{
		tile("Good waits", "percentunit", 2, atLeast(o.Wait), now(o.goodWaits("")),
			fmt.Sprintf(
				"Share of acquires in the time shown that waited at most %v s. Good: %s %% or more. If it is lower, "+
					"find the resource in the table: holds or demand have grown.", o.Within, percent(o.Wait))),
		tile("Error budget left", "percentunit", 1, budgetLeft(), now("min("+o.availabilityLeftOfPeriod()+")"),
			"Failures that the worst resource may still have"+period+
				", as a share of its budget. Good: above 50 %. Below 0 the objective is broken: make no risky changes "+
				"to this resource's services until it recovers. Needs the recording rules."),
		tile("Wait budget left", "percentunit", 1, budgetLeft(), now("min("+o.waitLeftOfPeriod()+")"),
			"Slow waits that the worst resource may still have"+period+
				", as a share of its budget. Good: above 50 %. Below 0 the objective is broken: shorten the work "+
				"under the lock, or split the resource. Needs the recording rules."),
		tile("Wait p99", "s", auto, above(c.Alerts.WaitP99Seconds),
			course("histogram_quantile(0.99, "+waitRate+")", ""),
			fmt.Sprintf("One acquire in a hundred waits longer. Good: far below %v s. Above it an alert fires.",
				c.Alerts.WaitP99Seconds)),
		tile("Acquires", "ops", auto, neutral(),
			course(`sum(rate(distributed_lock_wait_seconds_count{R}[$__rate_interval]))`, ""),
			"Acquires per second that ended. Good: your usual rate. None: no process works, or none is scraped."),
		tile("Waiting now", "short", 0, steps(green, step{c.Alerts.Waiters, orange}, step{10 * c.Alerts.Waiters, red}),
			course(`sum(distributed_lock_waiting{R})`, ""),
			"Callers that wait for a lock. Good: a small number that comes and goes. If it only grows, see Queue drain time."),
		tile("Held now", "short", 0, neutral(), course(`sum(distributed_lock_held{R})`, ""),
			"Leases held. Good: about acquires per second times the mean hold time. Much more: some leases are never "+
				"released."),
		tile("Attempts per acquire", "short", 1, above(c.Alerts.AttemptsPerAcquire), course(attemptsPerAcquire(""), ""),
			"Voting rounds per acquire. Good: below 2. Long holds raise it harmlessly. With many attempts a second it "+
				"is a retry storm."),
		tile("Release failures", "short", 0, anyIsSuspicious(),
			now(`sum(increase(distributed_lock_release_failures_total{R}[$__range]))`),
			"Failed releases in the time shown: the lease was gone, or the nodes did not confirm. Good: 0. The next "+
				"holder waits for the TTL, or has already overlapped."),
		tile("Deadlocks", "short", 0, anyIsBad(), now(`sum(increase(distributed_lock_deadlocks_total{R}[$__range]))`),
			"Cycles of callers that wait for one another within one process, in the time shown. Good: 0. Take locks "+
				"in the same order everywhere. The log names the cycle."),
		tile("Processes", "short", 0, neutral(), now(`count(count by ($JOB, instance) (distributed_lock_waiting{I}))`),
			"Processes that take locks and are scraped. Good: as many as you run."),
		tile("Resources", "short", 0, neutral(), now(`count(count by ($JOB, resource) (distributed_lock_waiting{R}))`),
			"Values of the label resource, for each job. Good: a steady number. Ids in names should have become *."),
	}
	for i := range all {
		all[i] = all[i].wide(4)
	}
	return all
}

func overviewObjectives(c config.Config, o objectives) []panel {
	by := " by ($JOB, resource)"
	p99 := `histogram_quantile(0.99, sum by ($JOB, resource, le)
		(increase(distributed_lock_wait_seconds_bucket{R}[$__range]))) >= 0` // without acquires it is NaN
	period := " left, " + o.Period.String()
	fast := o.Windows[0].Long
	return []panel{
		{kind: grid, title: "Objectives by resource", w: full, h: 9, unit: "short", decimals: auto,
			about: "One line per resource. Good: all green. A budget below 0 % is spent: the resource has missed its " +
				"objective, in the time shown or in " + o.Period.String() + ". Click a resource to see it in depth.",
			queries: instants(`sum`+by+` (increase(distributed_lock_wait_seconds_count{R}[$__range]))`,
				o.availability(by), o.availabilityLeft(by), o.availabilityLeftOfPeriod(),
				o.goodWaits(by), o.waitLeft(by), o.waitLeftOfPeriod(), p99),
			columns: []column{
				{title: "Acquires", unit: "short", steps: neutral(), width: 110},
				{title: "Availability", unit: "percentunit", decimals: 3, steps: atLeast(o.Availability), width: 120},
				{title: "Error budget left", unit: "percentunit", steps: budgetLeft()},
				{title: "Error budget" + period, unit: "percentunit", steps: budgetLeft()},
				{title: "Good waits", unit: "percentunit", decimals: 2, steps: atLeast(o.Wait), width: 120},
				{title: "Wait budget left", unit: "percentunit", steps: budgetLeft()},
				{title: "Wait budget" + period, unit: "percentunit", steps: budgetLeft()},
				{title: "Wait p99", unit: "s", decimals: auto, steps: above(c.Alerts.WaitP99Seconds), width: 110},
			},
			order: []string{"resource", "job"},
			cells: []labelColumn{{column: "resource",
				links: []link{fromRow("This resource in depth", "lockscope-resource", "resource")}}},
		},
		chart("Error budget burn rate, "+fast.String(), "short", half,
			course(fmt.Sprintf("%s{S} / (1 - %v)", rules.FailureRatio(fast), o.Availability), "{{job}} {{resource}}"),
			"Failures as a multiple of what the budget allows. Good: below 1. Alerts fire above the dashed lines. "+
				"Needs the recording rules.").burning(o.SLO).leading(toResource()).largest(c.Boards.Top),
		chart("Wait budget burn rate, "+fast.String(), "short", half,
			course(fmt.Sprintf("%s{S} / (1 - %v)", rules.SlowRatio(fast), o.Wait), "{{job}} {{resource}}"),
			"Slow waits as a multiple of what the budget allows. Good: below 1. Alerts fire above the dashed lines. "+
				"Needs the recording rules.").burning(o.SLO).leading(toResource()).largest(c.Boards.Top),
	}
}

func overviewOutcomes(c config.Config, o objectives) []panel {
	drain := `sum by ($JOB, resource) (distributed_lock_waiting{R})
		/ (sum by ($JOB, resource) (rate(distributed_lock_acquisitions_total{R,outcome="acquired"}[$__rate_interval])) > 0)`
	return []panel{
		chart("Acquires by outcome", "ops", half,
			course(`sum by (outcome) (rate(distributed_lock_acquisitions_total{R}[$__rate_interval]))`, "{{outcome}}"),
			"How acquires end. Good: acquired, and contended for callers that do not wait. timeout: the caller gave "+
				"up waiting. no_quorum: too few nodes, see Nodes. canceled: the caller cancelled.").stacked().tinted(
			outcomeTints()),
		chart("Failed acquires by resource", "percentunit", half,
			course(`sum by ($JOB, resource) (rate(distributed_lock_failures_total{R}[$__rate_interval]))
			/ (sum by ($JOB, resource) (rate(distributed_lock_wait_seconds_count{R}[$__rate_interval])) > 0)`,
				"{{job}} {{resource}}"),
			"Share of acquires that failed. Good: below the dashed line. One resource: contention or a stuck holder. "+
				"All resources: the nodes.").marked(steps(green, step{1 - o.Availability, red})).
			reaching(2 * (1 - o.Availability)).leading(toResource()).largest(c.Boards.Top),
		chart("Waiting by resource", "short", third,
			course(`sum by ($JOB, resource) (distributed_lock_waiting{R})`, "{{job}} {{resource}}"),
			"Callers that wait. Good: returns to 0 again and again. A line that only climbs means a stuck holder or "+
				"too much demand.").leading(toResource()).largest(c.Boards.Top),
		chart("Held by resource", "short", third,
			course(`sum by ($JOB, resource) (distributed_lock_held{R})`, "{{job}} {{resource}}"),
			"Leases held. A single lock has 0 or 1. Names folded into * add up. Good: follows the load. A line that "+
				"never falls is a lease that nobody releases.").leading(toResource()).largest(c.Boards.Top),
		chart("Queue drain time", "s", third, course(drain, "{{job}} {{resource}}"),
			"Waiters divided by acquires per second: how long the last in the queue waits. Good: below a second. "+
				"Above 30 s with many waiters an alert fires. No line if nothing is handed out.").leading(
			toResource()).
			largest(c.Boards.Top),
	}
}

func overviewTop(c config.Config) []panel {
	top := func(title, unit, expr, about string) panel {
		return panel{kind: topList, title: title, about: about, unit: unit, decimals: auto, w: third, h: chartHeight,
			zero: true,
			queries: []query{{expr: fmt.Sprintf("topk(%d, %s)", c.Boards.Top, expr), legend: "{{job}} {{resource}}",
				instant: true}}, links: []link{toResource()}, steps: neutral()}
	}
	return []panel{
		top("Most time spent waiting", "short",
			`sum by ($JOB, resource) (rate(distributed_lock_wait_seconds_sum{R}[$__rate_interval]))`,
			"Seconds of waiting per second: the mean number of waiting callers. Start here when things are slow. "+
				"Good: below 1."),
		top("Busiest", "ops",
			`sum by ($JOB, resource) (rate(distributed_lock_wait_seconds_count{R}[$__rate_interval]))`,
			"Acquires per second. Good: what you expect. Consider splitting a resource that is busy and contended."),
		top("Most contended", "short", `sum by ($JOB, resource) (rate(distributed_lock_attempts_total{R}[$__rate_interval]))
			/ (sum by ($JOB, resource) (rate(distributed_lock_wait_seconds_count{R}[$__rate_interval])) > 0)`,
			"Attempts per acquire. Good: 1 to 2. Higher: holders keep it long, or many callers ask at once."),
	}
}

func overviewLosses(c config.Config) []panel {
	// Every pair of resource and reason has a counter that starts at 0. Only pairs with losses get a line.
	const lost = `sum by ($JOB, resource, reason) (rate(distributed_lock_lost_total{R}[$__rate_interval]))
		and sum by ($JOB, resource, reason) (increase(distributed_lock_lost_total{R}[$__range])) > 0`
	return []panel{
		chart("Leases lost by reason", "ops", third, course(lost, "{{job}} {{resource}} {{reason}}"),
			"Good: no line. extend_failed: too few nodes answered. taken_over: a quorum no longer had the lease. "+
				"expired: nothing renewed it. max_hold: it reached its MaxHold.").rare().otherwise("none lost").
			leading(toResource()).largest(c.Boards.Top),
		chart("Release failures by resource", "ops", third,
			course(`sum by ($JOB, resource) (rate(distributed_lock_release_failures_total{R}[$__rate_interval]))`,
				"{{job}} {{resource}}"),
			"Good: none. Together with losses: leases ended early. Alone: nodes do not answer.").rare().
			leading(toResource()).largest(c.Boards.Top),
		chart("Measurement errors", "ops", third, []query{
			{expr: `sum by ($JOB) (rate(distributed_lock_resource_overflow_total{I}[$__rate_interval]))`,
				legend: "{{job}} counted as other"},
			{expr: `sum by ($JOB) (rate(distributed_lock_observer_panics_total{I}[$__rate_interval]))`,
				legend: "{{job}} observer panics"},
		},
			"Good: none. Counted as other: more resource names than the limit. Fold ids with a label function. "+
				"Panics: a label function, tracer or log handler panicked. Locking goes on.").rare(),
	}
}
