package boards

import (
	"fmt"

	"github.com/lockscope/lockscope/dashboards/gen/internal/boards/objectives"
	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
	"github.com/lockscope/lockscope/dashboards/gen/internal/rules"
)

// resourcesBoard compares resources.
func resourcesBoard(c config.Config) board {
	o := objectives.Of(c)
	return board{
		UID: "lockscope-resources", Title: "Distributed locks / Resources", From: "now-3h",
		About: "All resources: who holds and who waits, waits, outcomes, queues, elections, semaphores, read/write locks, " +
			"and what goes wrong. Resource shows one in depth.",
		Variables: append(processes("distributed_lock_wait_seconds_count"), resources()),
		Marks:     []mark{losses()},
		Rows: []row{
			{Title: "Who holds and who waits",
				Panels: append([]panel{holders(c, "Holders and waiters", "$JOB, instance, resource", 8)},
					underWay(c)...)},
			{Title: "Outcomes and queues", Panels: resourcesOutcomes(c, o)},
			{Title: "Top resources", Panels: resourcesTop(c)},
			folded("Elections", elections(c)),
			folded("Semaphores", semaphores(c)),
			folded("Read/write locks", readWrite(c)),
			folded("Totals", resourcesTotals(c, o)),
			folded("Waits", waits(o.Within)),
			folded("Lost leases and measurement errors", resourcesLosses(c)),
		},
	}
}

func resourcesTotals(c config.Config, o objectives.Objectives) []panel {
	return []panel{
		tile("Good waits", "percentunit", 2, atLeast(o.Wait), now(o.GoodWaits("")),
			fmt.Sprintf("Share of acquires in the time shown that waited at most %v s. Good: %s %% or more. If it is lower, "+
				"find the resource in Alerts and objectives: holds or demand have grown.", o.Within, objectives.Percent(o.Wait))),
		tile("Wait p99", "s", auto, above(c.Alerts.WaitP99Seconds),
			now("histogram_quantile(0.99, "+waitRate+")"),
			fmt.Sprintf("One acquire in a hundred waits longer. Good: far below %v s. Above it an alert fires.",
				c.Alerts.WaitP99Seconds)),
		tile("Held now", "short", 0, neutral(), course(`sum(distributed_lock_held{R})`, ""),
			"Leases held. Good: about acquires per second times the mean hold time. Much more: some leases are never "+
				"released."),
		tile("Attempts/acquire", "short", 1, above(c.Alerts.AttemptsPerAcquire), now(attemptsPerAcquire("")),
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
}

// failedResources includes the acquires that stalled calls prevent: in a total outage no acquire ends.
func failedResources() string {
	const failed = `sum by ($JOB, resource) (rate(distributed_lock_failures_total{R}[$__rate_interval]))`
	const prevented = `(sum by ($JOB, resource) (` + rules.Unserved + `{S}) or 0 * ` + failed + `)`
	return `(` + failed + ` + ` + prevented + `)
			/ (sum by ($JOB, resource) (rate(distributed_lock_wait_seconds_count{R}[$__rate_interval])) + ` + prevented +
		` > 0)`
}

func resourcesOutcomes(c config.Config, o objectives.Objectives) []panel {
	drain := `sum by ($JOB, resource) (distributed_lock_waiting{R})
		/ (sum by ($JOB, resource) (rate(distributed_lock_acquisitions_total{R,outcome="acquired"}[$__rate_interval])) > 0)`
	return []panel{
		acquiresByOutcome(),
		chart("Failed acquires by resource", "percentunit", half,
			course(failedResources(), "{{job}} {{resource}}"),
			"Share of acquires that failed; those that stalled calls prevent count as failed. Good: below the dashed line. "+
				"One resource: contention or a stuck holder. All resources: the nodes.").
			Marked(steps(green, at(1-o.Availability, red))).
			Reaching(2 * (1 - o.Availability)).Linking(toResource()).Largest(c.Boards.Top),
		chart("Waiting by resource", "short", third,
			course(`sum by ($JOB, resource) (distributed_lock_waiting{R})`, "{{job}} {{resource}}"),
			"Callers that wait. Good: returns to 0 again and again. A line that only climbs means a stuck holder or "+
				"too much demand.").Linking(toResource()).Largest(c.Boards.Top),
		chart("Held by resource", "short", third,
			course(`sum by ($JOB, resource) (distributed_lock_held{R})`, "{{job}} {{resource}}"),
			"Leases held. A single lock has 0 or 1. Names folded into * add up. Good: follows the load. A line that "+
				"never falls is a lease that nobody releases.").Linking(toResource()).Largest(c.Boards.Top),
		chart("Queue drain time", "s", third, course(drain, "{{job}} {{resource}}"),
			"Waiters divided by acquires per second: how long the last in the queue waits. Good: below a second. "+
				"Above 30 s with many waiters an alert fires. No line if nothing is handed out.").Linking(
			toResource()).
			Largest(c.Boards.Top),
	}
}
