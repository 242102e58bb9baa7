package boards

import (
	"fmt"

	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
	"github.com/lockscope/lockscope/dashboards/gen/internal/rules"
)

func overview(c config.Config) board {
	o := objectives{c.SLO}
	return board{
		uid: "lockscope-overview", title: "Distributed locks / Overview", from: "now-3h",
		about:     "All locks of all services: are the objectives kept, who waits, what fails. Objectives: " + o.promise() + ".",
		variables: append(processes("distributed_lock_wait_seconds_count", "distributed_lock_scanner_up"), resources(false)),
		rows: []row{
			{title: "At a glance", panels: overviewTiles(c, o)},
			{title: "Objectives", panels: overviewObjectives(o)},
			{title: "Waits", panels: waits(o.WithinSeconds)},
			{title: "Outcomes and queues", panels: overviewOutcomes(o)},
			{title: "Top resources", panels: overviewTop()},
			{title: "Losses, and what is not measured", panels: overviewLosses()},
		},
	}
}

func overviewTiles(c config.Config, o objectives) []panel {
	period := " in " + o.Period.String()
	return []panel{
		tile("Availability", "percentunit", 3, atLeast(o.Availability), now(o.availability("")),
			"Share of acquires in the time shown that got the lock, all resources together. Good: "+percent(o.Availability)+" % or more. Below it, look at the table for the resource and at Outcomes for the reason."),
		tile("Good waits", "percentunit", 2, atLeast(o.Wait), now(o.goodWaits("")),
			fmt.Sprintf("Share of acquires in the time shown that waited for %v s at most. Good: %s %% or more. Below it, find the resource in the table: hold times or demand have grown.", o.WithinSeconds, percent(o.Wait))),
		tile("Error budget left", "percentunit", 1, budgetLeft(), now("min("+o.availabilityLeftOfPeriod()+")"),
			"What the worst resource has left of the failures it may have"+period+". Good: above 50 %. Below 0 the objective is broken: no risky changes to this resource's services until it has recovered. Needs the recording rules."),
		tile("Wait budget left", "percentunit", 1, budgetLeft(), now("min("+o.waitLeftOfPeriod()+")"),
			"What the worst resource has left of the slow waits it may have"+period+". Good: above 50 %. Below 0 the objective is broken: shorten what is done under the lock, or split the resource. Needs the recording rules."),
		tile("Wait p99", "s", auto, above(c.Alerts.WaitP99Seconds), course("histogram_quantile(0.99, "+waitRate+")", ""),
			fmt.Sprintf("One acquire in a hundred waits for longer. Good: far below %v s, at which an alert fires.", c.Alerts.WaitP99Seconds)),
		tile("Acquires", "ops", auto, neutral(), course(`sum(rate(distributed_lock_wait_seconds_count{R}[$__rate_interval]))`, ""),
			"Acquires that ended, each second. Good: what you are used to. None at all means that nobody works, or that nobody is scraped."),
		tile("Waiting now", "short", 0, steps(green, step{c.Alerts.Waiters, orange}, step{10 * c.Alerts.Waiters, red}), course(`sum(distributed_lock_waiting{R})`, ""),
			"Callers that wait for a lock. Good: a small number that comes and goes. If it only grows, see Time until the queue is empty."),
		tile("Held now", "short", 0, neutral(), course(`sum(distributed_lock_held{R})`, ""),
			"Leases that are held. Good: about acquires a second times the mean hold time. Much more: leases that nobody releases."),
		tile("Leases lost", "short", 0, anyIsBad(), now(`sum(increase(distributed_lock_lost_total{R,reason!="max_hold"}[$__range]))`),
			"Leases in the time shown that ended while they were in use. Good: 0. Each is a chance that two holders worked at once, unless they heed the fencing token: see Losses below."),
		tile("Attempts/acquire", "short", 1, above(c.Alerts.AttemptsPerAcquire), course(`sum(rate(distributed_lock_attempts_total{R}[$__rate_interval])) / (sum(rate(distributed_lock_wait_seconds_count{R}[$__rate_interval])) > 0)`, ""),
			"Rounds of voting for each acquire. Good: below 2. Long holds raise it harmlessly; with many attempts a second it is a retry storm."),
		tile("Nodes to spare", "short", 0, steps(red, step{1, green}), now(fmt.Sprintf(`min(%s{J} - on (job, backend) group_left () max by (job, backend) (distributed_lock_quorum_nodes{I}))`, rules.NodesUsable)),
			"Redis nodes beyond the quorum that most processes can use, of the job that has the fewest. Good: 1 of 3, 2 of 5. At 0 the next node that fails takes all locks with it: see Nodes. With a single node it is always 0. Needs the recording rules."),
		tile("Leaked locks", "short", 0, anyIsBad(), now("sum("+latest("distributed_lock_scanner_leaked_locks", "{I}", "lock_node")+")"),
			"Lock keys without a TTL that the scanner has confirmed, of any library. Good: 0. Whoever waits for one waits for good: see Leaks."),
		tile("Release failures", "short", 0, anyIsSuspicious(), now(`sum(increase(distributed_lock_release_failures_total{R}[$__range]))`),
			"Releases in the time shown that found the lease gone, or could not tell. Good: 0. The next holder has to wait for the TTL, or there was one already."),
		tile("Alerts firing", "short", 0, anyIsBad(), now(`count(ALERTS{J,alertname=~"DistributedLock.+", alertstate="firing"}) or vector(0)`),
			"Alerts of these rules that are firing for the chosen jobs. Good: 0. Each has a link to its runbook."),
		tile("Processes", "short", 0, neutral(), now(`count(count by (job, instance) (distributed_lock_waiting{I}))`),
			"Processes that take locks and are scraped. Good: as many as you run."),
		tile("Resources", "short", 0, neutral(), now(`count(count by (job, resource) (distributed_lock_waiting{R}))`),
			"Resources by the name they are counted under, for each job. Good: a number that stays; ids in names should have become *."),
	}
}

func overviewObjectives(o objectives) []panel {
	by := " by (job, resource)"
	p99 := `histogram_quantile(0.99, sum by (job, resource, le) (increase(distributed_lock_wait_seconds_bucket{R}[$__range]))) >= 0` // without acquires it is NaN
	period := " left, " + o.Period.String()
	fast := o.Windows[0].Long
	return []panel{
		{kind: grid, title: "Objectives by resource", w: full, h: 9, unit: "short", decimals: auto,
			about: "One line per resource. Good: all green. A budget below 0 % is spent: the objective is broken for that resource, in the time shown or in " + o.Period.String() + ". Click a resource to see it in depth.",
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
				{title: "Wait p99", unit: "s", decimals: auto, steps: above(1), width: 110},
			},
			linked: "resource", links: []link{{title: "This resource in depth", url: "/d/lockscope-resource?${__url_time_range}&${datasource:queryparam}&var-job=${__data.fields.job:percentencode}&var-resource=${__data.fields.resource:percentencode}"}},
		},
		chart("Error budget burn rate, "+fast.String(), "short", half,
			course(fmt.Sprintf("%s{S} / (1 - %v)", rules.FailureRatio(fast), o.Availability), "{{job}} {{resource}}"),
			"How many times faster than planned failures use up the budget. Good: below 1. From the dashed lines on alerts fire. Needs the recording rules.").burning(o.SLO).leading(toResource()),
		chart("Wait budget burn rate, "+fast.String(), "short", half,
			course(fmt.Sprintf("%s{S} / (1 - %v)", rules.SlowRatio(fast), o.Wait), "{{job}} {{resource}}"),
			"How many times faster than planned slow waits use up the budget. Good: below 1. From the dashed lines on alerts fire. Needs the recording rules.").burning(o.SLO).leading(toResource()),
	}
}

func overviewOutcomes(o objectives) []panel {
	drain := `sum by (job, resource) (distributed_lock_waiting{R}) / (sum by (job, resource) (rate(distributed_lock_acquisitions_total{R,outcome="acquired"}[$__rate_interval])) > 0)`
	return []panel{
		chart("Acquires by outcome", "ops", half, course(`sum by (outcome) (rate(distributed_lock_acquisitions_total{R}[$__rate_interval]))`, "{{outcome}}"),
			"How acquires end. Good: acquired, and contended where callers do not want to wait. timeout: they gave up waiting; no_quorum: too few nodes, see Nodes; canceled: their caller went away.").stacked().tinted(outcomeTints()),
		chart("Failed acquires by resource", "percentunit", half, course(`sum by (job, resource) (rate(distributed_lock_failures_total{R}[$__rate_interval])) / (sum by (job, resource) (rate(distributed_lock_wait_seconds_count{R}[$__rate_interval])) > 0)`, "{{job}} {{resource}}"),
			"Share of acquires that ended without the lock. Good: below the dashed line. One resource alone: contention or a stuck holder; all at once: the nodes.").marked(steps(green, step{1 - o.Availability, red})).reaching(2 * (1 - o.Availability)).leading(toResource()),
		chart("Waiting by resource", "short", third, course(`sum by (job, resource) (distributed_lock_waiting{R})`, "{{job}} {{resource}}"),
			"Callers that wait. Good: returns to 0 again and again. A line that only climbs is a stuck holder or too much demand.").leading(toResource()),
		chart("Held by resource", "short", third, course(`sum by (job, resource) (distributed_lock_held{R})`, "{{job}} {{resource}}"),
			"Leases held. For one lock it is 0 or 1; names that were folded (*) add up. Good: follows the load. A line that never comes down is a lease that nobody releases.").leading(toResource()),
		chart("Time until the queue is empty", "s", third, course(drain, "{{job}} {{resource}}"),
			"Waiters divided by locks handed out a second: what the last in the queue has before it. Good: below a second. Above 30 s with many waiters an alert fires. No line where nothing is handed out.").leading(toResource()),
	}
}

func overviewTop() []panel {
	top := func(title, unit, expr, about string) panel {
		return panel{kind: topList, title: title, about: about, unit: unit, decimals: auto, w: third, h: chartHeight, zero: true,
			queries: []query{{expr: "topk(10, " + expr + ")", legend: "{{job}} {{resource}}", instant: true}}, links: []link{toResource()}, steps: neutral()}
	}
	return []panel{
		top("Most waiting", "short", `sum by (job, resource) (rate(distributed_lock_wait_seconds_sum{R}[$__rate_interval]))`,
			"Seconds spent waiting, each second: how many callers stand still on average. Start here when things are slow. Good: below 1."),
		top("Busiest", "ops", `sum by (job, resource) (rate(distributed_lock_wait_seconds_count{R}[$__rate_interval]))`,
			"Acquires a second. Good: what you expect. A resource that is busy and contended wants to be split."),
		top("Most contended", "short", `sum by (job, resource) (rate(distributed_lock_attempts_total{R}[$__rate_interval])) / (sum by (job, resource) (rate(distributed_lock_wait_seconds_count{R}[$__rate_interval])) > 0)`,
			"Attempts per acquire. Good: 1 to 2. Higher: holders keep it for long, or many ask at once."),
	}
}

func overviewLosses() []panel {
	// Every pair of resource and reason is counted from 0 on; only those that lost some are a line.
	const lost = `sum by (resource, reason) (rate(distributed_lock_lost_total{R}[$__rate_interval])) and sum by (resource, reason) (increase(distributed_lock_lost_total{R}[$__range])) > 0`
	return []panel{
		chart("Leases lost by reason", "ops", third, course(lost, "{{resource}} {{reason}}"),
			"Good: none, and then no line. extend_failed: too few nodes answered; taken_over: a quorum forgot it; expired: nothing renewed it; max_hold: it was held for as long as allowed.").rare().otherwise("none lost").leading(toResource()),
		chart("Release failures by resource", "ops", third, course(`sum by (job, resource) (rate(distributed_lock_release_failures_total{R}[$__rate_interval]))`, "{{job}} {{resource}}"),
			"Good: none. Together with losses: leases ended early. Alone: nodes that do not answer.").rare().leading(toResource()),
		chart("Not measured as it should be", "ops", third, []query{
			{expr: `sum by (job) (rate(distributed_lock_resource_overflow_total{I}[$__rate_interval]))`, legend: "{{job}} counted as other"},
			{expr: `sum by (job) (rate(distributed_lock_observer_panics_total{I}[$__rate_interval]))`, legend: "{{job}} observer panics"},
		}, "Good: none. Counted as other: there are more resource names than the limit; fold ids with a label function. Panics: a label function, tracer or log handler is broken; locking goes on.").rare(),
	}
}
