package resources

import (
	"fmt"

	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
	"github.com/lockscope/lockscope/dashboards/gen/internal/draw"
	"github.com/lockscope/lockscope/dashboards/gen/internal/rules"
)

// All is the board that compares resources.
func All(c config.Config) draw.Board {
	o := ObjectivesOf(c)
	return draw.Board{
		UID: "lockscope-resources", Title: "Distributed locks / Resources", From: "now-3h",
		About: "All resources: who holds and who waits, waits, outcomes, queues, elections, semaphores, read/write locks, " +
			"and what goes wrong. Resource shows one in depth.",
		Variables: append(draw.Processes("distributed_lock_waiting"), draw.Resources()),
		Marks:     []draw.Mark{draw.Losses()},
		Rows: []draw.Row{
			{Title: "Who holds and who waits",
				Panels: append([]draw.Panel{holders(c, "Holders and waiters", "$JOB, instance, resource", 8)},
					underWay(c)...)},
			{Title: "Outcomes and queues", Panels: resourcesOutcomes(c, o)},
			{Title: "Top resources", Panels: resourcesTop(c)},
			draw.Folded("Elections", elections(c)),
			draw.Folded("Semaphores", semaphores(c)),
			draw.Folded("Read/write locks", readWrite(c)),
			draw.Folded("Totals", resourcesTotals(c, o)),
			draw.Folded("Waits", waits(o.Within)),
			draw.Folded("Lost leases and measurement errors", resourcesLosses(c)),
		},
	}
}

func resourcesTotals(c config.Config, o Objectives) []draw.Panel {
	return []draw.Panel{
		draw.Tile("Good waits", "percentunit", 2, draw.AtLeast(o.Wait), draw.Now(o.GoodWaits("")),
			fmt.Sprintf("Share of acquires in the time shown that waited at most %v s. Good: %s %% or more. If it is lower, "+
				"find the resource in Alerts and objectives: holds or demand have grown.", o.Within, Percent(o.Wait))),
		draw.Tile("Wait p99", "s", draw.Auto, draw.Above(c.Alerts.WaitP99Seconds),
			draw.Now("histogram_quantile(0.99, "+waitRate+")"),
			fmt.Sprintf("One acquire in a hundred waits longer. Good: far below %v s. Above it an alert fires.",
				c.Alerts.WaitP99Seconds)),
		draw.Tile("Held now", "short", 0, draw.Neutral(), draw.History(`sum(distributed_lock_held{R})`, ""),
			"Leases held. Good: about acquires per second times the mean hold time. Much more: some leases are never "+
				"released."),
		draw.Tile("Attempts/acquire", "short", 1, draw.Above(c.Alerts.AttemptsPerAcquire), draw.Now(attemptsPerAcquire("")),
			"Voting rounds per acquire. Good: below 2. Long holds raise it harmlessly. With many attempts a second it "+
				"is a retry storm."),
		draw.Tile("Release failures", "short", 0, draw.AnyIsSuspicious(),
			draw.Now(`sum(increase(distributed_lock_release_failures_total{R}[$__range]))`),
			"Failed releases in the time shown: the lease was gone, or the nodes did not confirm. Good: 0. The next "+
				"holder waits for the TTL, or has already overlapped."),
		draw.Tile("Deadlocks", "short", 0, draw.AnyIsBad(),
			draw.Now(`sum(increase(distributed_lock_deadlocks_total{R}[$__range]))`),
			"Cycles of callers that wait for one another within one process, in the time shown. Good: 0. Take locks "+
				"in the same order everywhere. The log names the cycle."),
		draw.Tile("Processes", "short", 0, draw.Neutral(),
			draw.Now(`count(count by ($JOB, instance) (distributed_lock_waiting{I}))`),
			"Processes that take locks and are scraped. Good: as many as you run."),
		draw.Tile("Resources", "short", 0, draw.Neutral(),
			draw.Now(`count(count by ($JOB, resource) (distributed_lock_waiting{R}))`),
			"Values of the label resource, for each job. Good: a steady number. Ids in names should have become *."),
	}
}

// failedResources includes the acquires that stalled calls prevent: in a total outage no acquire ends.
func failedResources() string {
	const failed = `sum by ($JOB, resource) (rate(distributed_lock_failures_total{R}[$__rate_interval]))`
	const prevented = `(sum by ($JOB, resource) (` + rules.Unserved + `{S}) or 0 * ` + failed + `)`
	return `(` + failed + ` + ` + prevented + `)
			/ (sum by ($JOB, resource) (rate(distributed_lock_wait_seconds_count{R}[$__rate_interval])) + ` + prevented +
		` > 0)` + standBy
}

func resourcesOutcomes(c config.Config, o Objectives) []draw.Panel {
	drain := `sum by ($JOB, resource) (distributed_lock_waiting{R})
		/ (sum by ($JOB, resource) (rate(distributed_lock_acquisitions_total{R,outcome="acquired"}[$__rate_interval])) > 0)` +
		standBy
	return []draw.Panel{
		AcquiresByOutcome(),
		draw.Chart("Failed acquires by resource", "percentunit", draw.Half,
			draw.History(failedResources(), "{{job}} {{resource}}"),
			"Share of acquires that failed; those that stalled calls prevent count as failed. Good: below the dashed line. "+
				"One resource: contention or a stuck holder. All resources: the nodes.").
			Marked(draw.Steps(draw.Green, draw.At(1-o.Availability, draw.Red))).
			Reaching(2 * (1 - o.Availability)).Linking(draw.ToResource()).Largest(c.Boards.Top),
		draw.Chart("Waiting by resource", "short", draw.Third,
			draw.History(`sum by ($JOB, resource) (distributed_lock_waiting{R})`+standBy, "{{job}} {{resource}}"),
			"Callers that wait, without candidates of elections. Good: returns to 0 again and again. A line that only climbs "+
				"means a stuck holder or too much demand.").Linking(draw.ToResource()).Largest(c.Boards.Top),
		draw.Chart("Held by resource", "short", draw.Third,
			draw.History(`sum by ($JOB, resource) (distributed_lock_held{R})`, "{{job}} {{resource}}"),
			"Leases held. A single lock has 0 or 1. Names folded into * add up. Good: follows the load. A line that "+
				"never falls is a lease that nobody releases.").Linking(draw.ToResource()).Largest(c.Boards.Top),
		draw.Chart("Queue drain time", "s", draw.Third, draw.History(drain, "{{job}} {{resource}}"),
			"Waiters divided by acquires per second: how long the last in the queue waits. Good: below a second. "+
				"Above 30 s with many waiters an alert fires. No line if nothing is handed out.").Linking(
			draw.ToResource()).
			Largest(c.Boards.Top),
	}
}
