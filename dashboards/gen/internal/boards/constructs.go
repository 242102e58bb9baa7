package boards

import (
	"fmt"
	"time"

	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
)

// elections shows who leads, and who wants to.
func elections(c config.Config) []panel {
	const (
		by    = "$JOB, resource, instance"
		leads = `sum by (` + by + `) (distributed_lock_construct_held{R,kind="election"}) > 0`
		since = "distributed_lock_term_since_timestamp_seconds{R}"
	)
	none := "no process takes part in an election"
	return []panel{
		{kind: grid, title: "Leaders", w: full, h: chartHeight, unit: "short", decimals: auto, none: none,
			about: "The processes that lead. Good: one line for each election, and a term that lasts. Two lines for one " +
				"election: two terms at once, unless its name is folded into *. An election that is missing has no leader.",
			queries: instants("sort_desc("+leads+")", "max by ("+by+") (distributed_lock_term{R}) > 0",
				fmt.Sprintf("clamp_min(max by (%s) (timestamp(%[2]s) - (%[2]s > 0)), 0)", by, since),
				fmt.Sprintf("0 * (%s) + on ($JOB, resource) group_left () sum by ($JOB, resource) "+
					"(distributed_lock_candidates{R})", leads)),
			columns: []column{
				{title: "Terms", unit: "short", steps: neutral(), width: 90},
				{title: "Term", unit: "locale", steps: neutral(), width: 170},
				{title: "Leads for", unit: "s", decimals: auto, steps: neutral(), width: 110},
				{title: "Candidates", unit: "short", steps: neutral(), width: 100},
			},
			order: []string{"resource", "job", "instance"}, narrow: labelWidth,
			cells: []labelColumn{
				{column: "instance", links: []link{{title: "Live page of this process", url: c.Boards.Page(), away: true}}},
				{column: "resource", links: []link{fromRow("This resource in depth", "lockscope-resource", "resource")}},
			}},
		chart("Valid terms", "short", third,
			course(`sum by ($JOB, resource) (distributed_lock_construct_held{R,kind="election"})`, "{{job}} {{resource}}"),
			"Leaders of each election. Good: 1. At 0 nobody leads; after a minute an alert fires if there are candidates. "+
				"Names folded into * add up.").leading(toResource()).largest(c.Boards.Top).otherwise(none),
		chart("Candidates by what they see", "short", third,
			course(`sum by (leader) (distributed_lock_candidates{R})`, "{{leader}}"),
			"Campaigns in progress. Good: only seen, which wait behind a leader. none: too few nodes answer, or the holder "+
				"is no candidate. unknown: no answer yet.").stacked().
			tinted(in(green, "seen"), in(yellow, "unknown"), in(red, "none")).otherwise(none),
		chart("Ends of terms by cause", "ops", third,
			course(`sum by (end) (rate(distributed_lock_construct_ended_total{R,kind="election"}[$__rate_interval]))`,
				"{{end}}"),
			"Terms that ended per second. Good: few, and only released. lost: the leader could not renew. closed: its "+
				"Locker was closed while it led.").stacked().rare().otherwise(none),
	}
}

// semaphores shows the slots in use, and who waits for one.
func semaphores(c config.Config) []panel {
	const (
		by    = "$JOB, resource"
		inUse = `sum by (` + by + `) (distributed_lock_construct_held{R,kind="semaphore"})`
		slots = `max by (` + by + `) (distributed_lock_slots{R})`
	)
	none := "no process uses a semaphore"
	most := func(expr string) string { return fmt.Sprintf("%s and topk(%d, %s)", expr, c.Boards.Top, inUse) }
	return []panel{
		{kind: grid, title: "Semaphores", w: half, h: chartHeight, unit: "short", decimals: auto, none: none,
			about: "Slots of the semaphores that are used most, by job. Good: a slot is free, or nobody waits. All in use and " +
				"callers wait: after five minutes an alert fires. Slots is empty for names folded into *.",
			queries: instants("sort_desc("+most(inUse)+")", most(slots),
				most(`sum by (`+by+`) (distributed_lock_waiting{R})`)),
			columns: []column{
				{title: "In use", unit: "short", steps: neutral(), width: 90},
				{title: "Slots", unit: "short", steps: neutral(), width: 90},
				{title: "Waiting", unit: "short", steps: steps(green, at(c.Alerts.Waiters, orange)), width: 90},
			},
			order: []string{"resource", "job"}, cells: resourceCell(), narrow: labelWidth},
		ratioChart("Slots in use", quarter, course(`sum by ($CLUSTER resource) (distributed_lock_construct_held{R,`+
			`kind="semaphore"}) / max by ($CLUSTER resource) (distributed_lock_slots{R})`, "{{resource}}"),
			"Share of the slots that the chosen jobs hold. Good: below 100 %. At 100 % callers wait.").
			marked(steps(green, at(1, orange))).largest(c.Boards.Top).otherwise(none),
		chart("Leases by kind", "short", quarter, course(`sum by (kind) (distributed_lock_construct_held{R})`, "{{kind}}"),
			"Valid leases that are part of a construct: terms, slots, locks of sets, readers and writers. Good: follows the "+
				"load.").stacked().otherwise("no process uses a construct"),
	}
}

// readWrite shows the read/write locks, and whether readers keep a writer waiting.
func readWrite(c config.Config) []panel {
	const (
		by      = "$JOB, resource"
		readers = `sum by (` + by + `) (distributed_lock_construct_held{R,kind="read"})`
		writers = `sum by (` + by + `) (distributed_lock_construct_held{R,kind="write"})`
		both    = `sum by (` + by + `) (distributed_lock_construct_held{R,kind=~"read|write"})`
	)
	none := "no process uses a read/write lock"
	limit := time.Duration(c.Alerts.WriterStarved).Seconds()
	oldest := since("distributed_lock_waiting_since_timestamp_seconds{R}", by)
	most := func(expr string) string { return fmt.Sprintf("%s and topk(%d, %s)", expr, c.Boards.Top, both) }
	return []panel{
		{kind: grid, title: "Read/write locks", w: half, h: chartHeight, unit: "short", decimals: auto, none: none,
			about: fmt.Sprintf("Read/write locks that are held most, by job. Good: either readers or one writer. An oldest wait "+
				"above %v s while readers hold: a writer starves, and an alert fires.", limit),
			queries: instants("sort_desc("+most(readers)+")", most(writers),
				most(`sum by (`+by+`) (distributed_lock_waiting{R})`), most(oldest)),
			columns: []column{
				{title: "Readers", unit: "short", steps: neutral(), width: 90},
				{title: "Writers", unit: "short", steps: neutral(), width: 90},
				{title: "Waiting", unit: "short", steps: steps(green, at(c.Alerts.Waiters, orange)), width: 90},
				{title: "Oldest wait", unit: "s", decimals: auto, steps: steps(green, at(limit, orange)), width: 110},
			},
			order: []string{"resource", "job"}, cells: resourceCell(), narrow: labelWidth},
		chart("Readers and writers", "short", quarter,
			course(`sum by (kind) (distributed_lock_construct_held{R,kind=~"read|write"})`, "{{kind}}"),
			"Valid leases of read/write locks. Good: readers come and go. Readers that never fall: see the oldest wait.").
			stacked().otherwise(none),
		chart("Longest wait while readers hold", "s", quarter,
			course(oldest+` * on ($CLUSTER resource) group_left () (max by ($CLUSTER resource) (`+
				`distributed_lock_construct_held{R,kind="read"}) > bool 0)`, "{{job}} {{resource}}"),
			fmt.Sprintf("Age of the oldest call that waits for a lock that readers hold. Good: returns to 0, which also means no reader. Above "+
				"%v s a writer starves behind readers.", limit)).
			marked(steps(green, at(limit, orange))).leading(toResource()).largest(c.Boards.Top).otherwise(none),
	}
}
