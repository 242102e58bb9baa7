package boards

import (
	"fmt"

	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
	"github.com/lockscope/lockscope/dashboards/gen/internal/rules"
)

// stalled is above 0 while a call waits for nodes that do not answer. Recorded series include processes of earlier
// versions, which do not report such calls.
const stalled = `(sum(distributed_lock_waiting_without_quorum{R} or ` + rules.Stalled + `{R}) > 0)`

// stateTiles show the present state. Each is red in a total outage, although no call returns then.
func stateTiles(c config.Config) []panel {
	all := []panel{
		nodesToSpare("Usable lock nodes beyond the quorum, of the set with the fewest. Good: 1 of 3, 2 of 5. At 0 the " +
			"next node that fails stops all locking in its set. Below 0 nobody gets a lock: see Nodes."),
		alertsNow(),
		longestWait(c),
		waitingNow(c),
		acquiresNow(),
		tile("Leases lost", "short", 0, anyIsBad(),
			now(`sum(increase(distributed_lock_lost_total{R,reason!="max_hold"}[$__range]))`),
			"Leases in the time shown that ended in use. Good: 0. Two holders may have worked at once, unless the "+
				"resource checks fencing tokens. Resources shows which and why."),
	}
	for i := range all {
		all[i] = all[i].wide(4)
		all[i].size = 42
	}
	return all
}

// alertsNow is red only for alerts that page.
func alertsNow() panel {
	names := func(more ...string) string {
		return `count(count by ($CLUSTER alertname) (` + firing(more...) + ` unless ` + heldBack() + `))`
	}
	warnings := `(` + names() + ` unless on () ` + names(`severity="critical"`) + `)`
	return tile("Alerts firing", "short", 0, anyIsBad(),
		[]query{{expr: `(` + names() + ` or vector(0)) unless on () ` + warnings, legend: "alerts", instant: true}},
		"Alerts of these rules that fire for the chosen jobs, each name once, without the consequences of others. Good: 0. "+
			"Orange: none of them is critical. The table below has them all.").either("warnings", warnings, orange)
}

func longestWait(c config.Config) panel {
	return tile("Longest wait now", "s", auto,
		steps(green, step{c.Alerts.WaitP99Seconds, orange}, step{c.Alerts.DrainSeconds, red}),
		now("topk(1, "+since("distributed_lock_waiting_since_timestamp_seconds{R}", "$JOB, resource")+")"),
		fmt.Sprintf("How long the oldest call that has not returned has waited, and for which resource. Good: below %v "+
			"s. If it grows, the tables below show what it waits for.", c.Alerts.WaitP99Seconds)).telling("{{resource}}")
}

func waitingNow(c config.Config) panel {
	const waiting = `sum(distributed_lock_waiting{R})`
	return tile("Waiting now", "short", 0,
		steps(green, step{c.Alerts.Waiters, orange}, step{10 * c.Alerts.Waiters, red}),
		[]query{{expr: waiting + ` unless on () ` + stalled, legend: "callers", instant: true}},
		"Callers that wait for a lock. Good: a small number that comes and goes. Red, no quorum: some of them wait for "+
			"nodes that do not answer, and no holder can let them in.").
		either("callers, no quorum", waiting+` and on () `+stalled, red)
}

func acquiresNow() panel {
	const acquired = `sum(rate(distributed_lock_acquisitions_total{R,outcome="acquired"}[$__rate_interval]))`
	return tile("Acquires a second", "ops", auto, neutral(),
		[]query{{expr: acquired + ` unless on () (` + acquired + ` == 0 and on () ` + stalled + `)`, legend: "acquired",
			instant: true}},
		"Acquires per second that got the lock. Good: your usual rate. Red: none, while callers wait for nodes. No data: "+
			"no process works, or none is scraped.").
		either("no quorum", acquired+` == 0 and on () `+stalled, red)
}
