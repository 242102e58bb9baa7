package resources

import (
	"fmt"

	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
	"github.com/lockscope/lockscope/dashboards/gen/internal/draw"
	"github.com/lockscope/lockscope/dashboards/gen/internal/rules"
)

// stalled is above 0 while a call waits for nodes that do not answer. Recorded series include processes of earlier
// versions, which do not report such calls.
const stalled = `(sum(distributed_lock_waiting_without_quorum{R} or ` + rules.Stalled + `{R}) > 0)`

// standBy leaves out elections: a candidate stands by while another process leads, it does not wait.
const standBy = ` unless on ($JOB, resource) distributed_lock_candidates{R}`

// LongestWait is a tile with the longest wait of a call that has not returned.
func LongestWait(c config.Config) draw.Panel {
	return draw.Tile("Longest wait now", "s", draw.Auto,
		draw.Steps(draw.Green, draw.At(c.Alerts.WaitP99Seconds, draw.Orange), draw.At(c.Alerts.DrainSeconds, draw.Red)),
		draw.Now("topk(1, "+since("distributed_lock_waiting_since_timestamp_seconds{R}", "$JOB, resource")+standBy+")"),
		fmt.Sprintf("How long the oldest call that has not returned has waited, and for which resource. Good: below %v "+
			"s. If it grows, the tables below show what it waits for.", c.Alerts.WaitP99Seconds)).Naming("{{resource}}")
}

// WaitingNow is a tile with the number of callers that wait. It is red while some wait for nodes.
func WaitingNow(c config.Config) draw.Panel {
	const waiting = `sum(distributed_lock_waiting{R}` + standBy + `)`
	return draw.Tile("Waiting now", "short", 0,
		draw.Steps(draw.Green, draw.At(c.Alerts.Waiters, draw.Orange), draw.At(10*c.Alerts.Waiters, draw.Red)),
		[]draw.Query{{Expr: waiting + ` unless on () ` + stalled, Legend: "callers", Instant: true}},
		"Callers that wait for a lock, without candidates of elections. Good: a small number that comes and goes. Red, no quorum: some of them wait for "+
			"nodes that do not answer, and no holder can let them in.").
		Either("callers, no quorum", waiting+` and on () `+stalled, draw.Red)
}

// AcquiresNow is a tile with the rate of acquires that got the lock. It is red if there are none for want of nodes.
func AcquiresNow() draw.Panel {
	const acquired = `sum(rate(distributed_lock_acquisitions_total{R,outcome="acquired"}[$__rate_interval]))`
	return draw.Tile("Acquires a second", "ops", draw.Auto, draw.Neutral(),
		[]draw.Query{{Expr: acquired + ` unless on () (` + acquired + ` == 0 and on () ` + stalled + `)`, Legend: "acquired",
			Instant: true}},
		"Acquires per second that got the lock. Good: your usual rate. Red: none, while callers wait for nodes. No data: "+
			"no process works, or none is scraped.").
		Either("no quorum", acquired+` == 0 and on () `+stalled, draw.Red)
}
