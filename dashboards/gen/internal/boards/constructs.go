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
		{Kind: grid, Title: "Leaders", Width: full, Height: chartHeight, Unit: "short", Decimals: auto, None: none,
			About: "The processes that lead. Good: one line for each election, and a term that lasts. Two lines for one " +
				"election: two terms at once, unless its name is folded into *. An election that is missing has no leader.",
			Queries: instants("sort_desc("+leads+")", "max by ("+by+") (distributed_lock_term{R}) > 0",
				fmt.Sprintf("clamp_min(max by (%s) (timestamp(%[2]s) - (%[2]s > 0)), 0)", by, since),
				fmt.Sprintf("0 * (%s) + on ($JOB, resource) group_left () sum by ($JOB, resource) "+
					"(distributed_lock_candidates{R})", leads)),
			Columns: []column{
				{Title: "Terms", Unit: "short", Steps: neutral(), Width: 90},
				{Title: "Term", Unit: "locale", Steps: neutral(), Width: 170},
				{Title: "Leads for", Unit: "s", Decimals: auto, Steps: neutral(), Width: 110},
				{Title: "Candidates", Unit: "short", Steps: neutral(), Width: 100},
			},
			Order: []string{"resource", "job", "instance"}, Narrow: labelWidth,
			Cells: []labelColumn{
				{Name: "instance", Links: []link{{Title: "Live page of this process", URL: c.Boards.Page(), Away: true}}},
				resourceCell(),
			}},
		chart("Valid terms", "short", third,
			course(`sum by ($JOB, resource) (distributed_lock_construct_held{R,kind="election"})`, "{{job}} {{resource}}"),
			"Leaders of each election. Good: 1. At 0 nobody leads; after a minute an alert fires if there are candidates. "+
				"Names folded into * add up.").Linking(toResource()).Largest(c.Boards.Top).Otherwise(none),
		chart("Candidates by what they see", "short", third,
			course(`sum by (leader) (distributed_lock_candidates{R})`, "{{leader}}"),
			"Campaigns in progress. Good: only seen, which wait behind a leader. none: too few nodes answer, or the holder "+
				"is no candidate. unknown: no answer yet.").Stacked().
			Tinted(in(green, "seen"), in(yellow, "unknown"), in(red, "none")).Otherwise(none),
		chart("Ends of terms by cause", "ops", third,
			course(`sum by (end) (rate(distributed_lock_construct_ended_total{R,kind="election"}[$__rate_interval]))`,
				"{{end}}"),
			"Terms that ended per second. Good: few, and only released. lost: the leader could not renew. closed: its "+
				"Locker was closed while it led.").Stacked().Rare().Otherwise(none),
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
		{Kind: grid, Title: "Semaphores", Width: half, Height: chartHeight, Unit: "short", Decimals: auto, None: none,
			About: "Slots of the semaphores that are used most, by job. Good: a slot is free, or nobody waits. All in use and " +
				"callers wait: after five minutes an alert fires. Slots is empty for names folded into *.",
			Queries: instants("sort_desc("+most(inUse)+")", most(slots),
				most(`sum by (`+by+`) (distributed_lock_waiting{R})`)),
			Columns: []column{
				{Title: "In use", Unit: "short", Steps: neutral(), Width: 90},
				{Title: "Slots", Unit: "short", Steps: neutral(), Width: 90},
				{Title: "Waiting", Unit: "short", Steps: steps(green, at(c.Alerts.Waiters, orange)), Width: 90},
			},
			Order: []string{"resource", "job"}, Cells: []labelColumn{resourceCell()}, Narrow: labelWidth},
		ratioChart("Slots in use", quarter, course(`sum by ($CLUSTER resource) (distributed_lock_construct_held{R,`+
			`kind="semaphore"}) / max by ($CLUSTER resource) (distributed_lock_slots{R})`, "{{resource}}"),
			"Share of the slots that the chosen jobs hold. Good: below 100 %. At 100 % callers wait.").
			Marked(steps(green, at(1, orange))).Largest(c.Boards.Top).Otherwise(none),
		chart("Leases by kind", "short", quarter, course(`sum by (kind) (distributed_lock_construct_held{R})`, "{{kind}}"),
			"Valid leases that are part of a construct: terms, slots, locks of sets, readers and writers. Good: follows the "+
				"load.").Stacked().Otherwise("no process uses a construct"),
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
		{Kind: grid, Title: "Read/write locks", Width: half, Height: chartHeight, Unit: "short", Decimals: auto, None: none,
			About: fmt.Sprintf("Read/write locks that are held most, by job. Good: either readers or one writer. An oldest wait "+
				"above %v s while readers hold: a writer starves, and an alert fires.", limit),
			Queries: instants("sort_desc("+most(readers)+")", most(writers),
				most(`sum by (`+by+`) (distributed_lock_waiting{R})`), most(oldest)),
			Columns: []column{
				{Title: "Readers", Unit: "short", Steps: neutral(), Width: 90},
				{Title: "Writers", Unit: "short", Steps: neutral(), Width: 90},
				{Title: "Waiting", Unit: "short", Steps: steps(green, at(c.Alerts.Waiters, orange)), Width: 90},
				{Title: "Oldest wait", Unit: "s", Decimals: auto, Steps: steps(green, at(limit, orange)), Width: 110},
			},
			Order: []string{"resource", "job"}, Cells: []labelColumn{resourceCell()}, Narrow: labelWidth},
		chart("Readers and writers", "short", quarter,
			course(`sum by (kind) (distributed_lock_construct_held{R,kind=~"read|write"})`, "{{kind}}"),
			"Valid leases of read/write locks. Good: readers come and go. Readers that never fall: see the oldest wait.").
			Stacked().Otherwise(none),
		chart("Longest wait while readers hold", "s", quarter,
			course(oldest+` * on ($CLUSTER resource) group_left () (max by ($CLUSTER resource) (`+
				`distributed_lock_construct_held{R,kind="read"}) > bool 0)`, "{{job}} {{resource}}"),
			fmt.Sprintf("Age of the oldest call that waits for a lock that readers hold. Good: returns to 0, which also means no reader. Above "+
				"%v s a writer starves behind readers.", limit)).
			Marked(steps(green, at(limit, orange))).Linking(toResource()).Largest(c.Boards.Top).Otherwise(none),
	}
}
