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
		about: "Is all well, what fires, who holds and who waits, are the objectives kept; the rest is folded. " +
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
			folded("Lost leases and errors of measuring", overviewLosses(c)),
		},
	}
}

func overviewTotals(c config.Config, o objectives) []panel {
	period := " in " + o.Period.String()
	all := []panel{
		tile("Good waits", "percentunit", 2, atLeast(o.Wait), now(o.goodWaits("")),
			fmt.Sprintf(
				"Share of acquires in the time shown that waited for %v s at most. Good: %s %% or more. Below it, find "+
					"the resource in the table: hold times or demand have grown.", o.Within, percent(o.Wait))),
		tile("Error budget left", "percentunit", 1, budgetLeft(), now("min("+o.availabilityLeftOfPeriod()+")"),
			"What the worst resource has left of the failures it may have"+period+
				". Good: above 50 %. Below 0 the objective "+
				"is broken: no risky changes to this resource's services until it has recovered. Needs the recording rules."),
		tile("Wait budget left", "percentunit", 1, budgetLeft(), now("min("+o.waitLeftOfPeriod()+")"),
			"What the worst resource has left of the slow waits it may have"+period+
				". Good: above 50 %. Below 0 the objective "+
				"is broken: shorten what is done under the lock, or split the resource. Needs the recording rules."),
		tile("Wait p99", "s", auto, above(c.Alerts.WaitP99Seconds),
			course("histogram_quantile(0.99, "+waitRate+")", ""),
			fmt.Sprintf("One acquire in a hundred waits for longer. Good: far below %v s, at which an alert fires.",
				c.Alerts.WaitP99Seconds)),
		tile("Acquires", "ops", auto, neutral(),
			course(`sum(rate(distributed_lock_wait_seconds_count{R}[$__rate_interval]))`, ""),
			"Acquires that ended, each second. Good: what you are used to. None at all means that nobody works, or that nobody "+
				"is scraped."),
		tile("Waiting now", "short", 0, steps(green, step{c.Alerts.Waiters, orange}, step{10 * c.Alerts.Waiters, red}),
			course(`sum(distributed_lock_waiting{R})`, ""),
			"Callers that wait for a lock. Good: a small number that comes and goes. If it only grows, see Queue drain time."),
		tile("Held now", "short", 0, neutral(), course(`sum(distributed_lock_held{R})`, ""),
			"Leases that are held. Good: about acquires a second times the mean hold time. Much more: leases that "+
				"nobody releases."),
		tile("Attempts per acquire", "short", 1, above(c.Alerts.AttemptsPerAcquire), course(attemptsPerAcquire(""), ""),
			"Rounds of voting for each acquire. Good: below 2. Long holds raise it harmlessly; with many attempts a second it "+
				"is a retry storm."),
		tile("Release failures", "short", 0, anyIsSuspicious(),
			now(`sum(increase(distributed_lock_release_failures_total{R}[$__range]))`),
			"Releases in the time shown that found the lease gone, or could not tell. Good: 0. The next holder has to wait for "+
				"the TTL, or there was one already."),
		tile("Deadlocks", "short", 0, anyIsBad(), now(`sum(increase(distributed_lock_deadlocks_total{R}[$__range]))`),
			"Cycles of callers that wait for one another, closed within a process in the time shown. Good: 0. Take locks in "+
				"the same order everywhere; the log names the cycle."),
		tile("Processes", "short", 0, neutral(), now(`count(count by ($JOB, instance) (distributed_lock_waiting{I}))`),
			"Processes that take locks and are scraped. Good: as many as you run."),
		tile("Resources", "short", 0, neutral(), now(`count(count by ($JOB, resource) (distributed_lock_waiting{R}))`),
			"Resources by the name they are counted under, for each job. Good: a number that stays; ids in names should "+
				"have become *."),
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
			about: "One line per resource. Good: all green. A budget below 0 % is spent: the objective is broken for that " +
				"resource, in the time shown or in " + o.Period.String() + ". Click a resource to see it in depth.",
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
			"How many times faster than planned failures use up the budget. Good: below 1. From the dashed lines on alerts "+
				"fire. Needs the recording rules.").burning(o.SLO).leading(toResource()).largest(c.Boards.Top),
		chart("Wait budget burn rate, "+fast.String(), "short", half,
			course(fmt.Sprintf("%s{S} / (1 - %v)", rules.SlowRatio(fast), o.Wait), "{{job}} {{resource}}"),
			"How many times faster than planned slow waits use up the budget. Good: below 1. From the dashed lines on alerts "+
				"fire. Needs the recording rules.").burning(o.SLO).leading(toResource()).largest(c.Boards.Top),
	}
}

func overviewOutcomes(c config.Config, o objectives) []panel {
	drain := `sum by ($JOB, resource) (distributed_lock_waiting{R})
		/ (sum by ($JOB, resource) (rate(distributed_lock_acquisitions_total{R,outcome="acquired"}[$__rate_interval])) > 0)`
	return []panel{
		chart("Acquires by outcome", "ops", half,
			course(`sum by (outcome) (rate(distributed_lock_acquisitions_total{R}[$__rate_interval]))`, "{{outcome}}"),
			"How acquires end. Good: acquired, and contended where callers do not want to wait. timeout: they gave up waiting; "+
				"no_quorum: too few nodes, see Nodes; canceled: their caller went away.").stacked().tinted(
			outcomeTints()),
		chart("Failed acquires by resource", "percentunit", half,
			course(`sum by ($JOB, resource) (rate(distributed_lock_failures_total{R}[$__rate_interval]))
			/ (sum by ($JOB, resource) (rate(distributed_lock_wait_seconds_count{R}[$__rate_interval])) > 0)`,
				"{{job}} {{resource}}"),
			"Share of acquires that ended without the lock. Good: below the dashed line. One resource alone: contention or a "+
				"stuck holder; all at once: the nodes.").marked(steps(green, step{1 - o.Availability, red})).
			reaching(2 * (1 - o.Availability)).leading(toResource()).largest(c.Boards.Top),
		chart("Waiting by resource", "short", third,
			course(`sum by ($JOB, resource) (distributed_lock_waiting{R})`, "{{job}} {{resource}}"),
			"Callers that wait. Good: returns to 0 again and again. A line that only climbs is a stuck holder or too "+
				"much demand.").leading(toResource()).largest(c.Boards.Top),
		chart("Held by resource", "short", third,
			course(`sum by ($JOB, resource) (distributed_lock_held{R})`, "{{job}} {{resource}}"),
			"Leases held. For one lock it is 0 or 1; names that were folded (*) add up. Good: follows the load. A line that "+
				"never comes down is a lease that nobody releases.").leading(toResource()).largest(c.Boards.Top),
		chart("Queue drain time", "s", third, course(drain, "{{job}} {{resource}}"),
			"Waiters divided by locks handed out a second: what the last in the queue has before it. Good: below a second. "+
				"Above 30 s with many waiters an alert fires. No line where nothing is handed out.").leading(
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
			"Seconds spent waiting, each second: how many callers stand still on average. Start here when things are slow. "+
				"Good: below 1."),
		top("Busiest", "ops",
			`sum by ($JOB, resource) (rate(distributed_lock_wait_seconds_count{R}[$__rate_interval]))`,
			"Acquires a second. Good: what you expect. A resource that is busy and contended wants to be split."),
		top("Most contended", "short", `sum by ($JOB, resource) (rate(distributed_lock_attempts_total{R}[$__rate_interval]))
			/ (sum by ($JOB, resource) (rate(distributed_lock_wait_seconds_count{R}[$__rate_interval])) > 0)`,
			"Attempts per acquire. Good: 1 to 2. Higher: holders keep it for long, or many ask at once."),
	}
}

func overviewLosses(c config.Config) []panel {
	// Every pair of resource and reason is counted from 0 on; only those that lost some are a line.
	const lost = `sum by ($JOB, resource, reason) (rate(distributed_lock_lost_total{R}[$__rate_interval]))
		and sum by ($JOB, resource, reason) (increase(distributed_lock_lost_total{R}[$__range])) > 0`
	return []panel{
		chart("Leases lost by reason", "ops", third, course(lost, "{{job}} {{resource}} {{reason}}"),
			"Good: none, and then no line. extend_failed: too few nodes answered; taken_over: a quorum forgot it; expired: "+
				"nothing renewed it; max_hold: it was held for as long as allowed.").rare().otherwise("none lost").
			leading(toResource()).largest(c.Boards.Top),
		chart("Release failures by resource", "ops", third,
			course(`sum by ($JOB, resource) (rate(distributed_lock_release_failures_total{R}[$__rate_interval]))`,
				"{{job}} {{resource}}"),
			"Good: none. Together with losses: leases ended early. Alone: nodes that do not answer.").rare().
			leading(toResource()).largest(c.Boards.Top),
		chart("Errors of measuring", "ops", third, []query{
			{expr: `sum by ($JOB) (rate(distributed_lock_resource_overflow_total{I}[$__rate_interval]))`,
				legend: "{{job}} counted as other"},
			{expr: `sum by ($JOB) (rate(distributed_lock_observer_panics_total{I}[$__rate_interval]))`,
				legend: "{{job}} observer panics"},
		},
			"Good: none. Counted as other: there are more resource names than the limit; fold ids with a label function. "+
				"Panics: a label function, tracer or log handler is broken; locking goes on.").rare(),
	}
}
