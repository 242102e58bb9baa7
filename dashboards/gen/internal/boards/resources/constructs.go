package resources

import (
	"fmt"
	"time"

	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
	"github.com/lockscope/lockscope/dashboards/gen/internal/draw"
)

// elections shows who leads, and who wants to.
func elections(c config.Config) []draw.Panel {
	const (
		by    = "$JOB, resource, instance"
		leads = `sum by (` + by + `) (distributed_lock_construct_held{R,kind="election"}) > 0`
		since = "distributed_lock_term_since_timestamp_seconds{R}"
	)
	none := "no process takes part in an election"
	return []draw.Panel{
		{Kind: draw.Table, Title: "Leaders", Width: draw.Full, Height: draw.ChartHeight, Unit: "short", Decimals: draw.Auto,
			None: none,
			About: "The processes that lead. Good: one line for each election, and a term that lasts. Two lines for one " +
				"election: two terms at once, unless its name is folded into *. An election that is missing has no leader.",
			Queries: draw.Instants("sort_desc("+leads+")", "max by ("+by+") (distributed_lock_term{R}) > 0",
				fmt.Sprintf("clamp_min(max by (%s) (timestamp(%[2]s) - (%[2]s > 0)), 0)", by, since),
				fmt.Sprintf("0 * (%s) + on ($JOB, resource) group_left () sum by ($JOB, resource) "+
					"(distributed_lock_candidates{R})", leads)),
			Columns: []draw.Column{
				{Title: "Terms", Unit: "short", Steps: draw.Neutral(), Width: 90},
				{Title: "Term", Unit: "locale", Steps: draw.Neutral(), Width: 170},
				{Title: "Leads for", Unit: "s", Decimals: draw.Auto, Steps: draw.Neutral(), Width: 110},
				{Title: "Candidates", Unit: "short", Steps: draw.Neutral(), Width: 100},
			},
			Order: []string{"resource", "job", "instance"}, Narrow: draw.LabelWidth,
			Cells: []draw.LabelColumn{
				{Name: "instance", Links: []draw.Link{{Title: "Live page of this process", URL: c.Boards.Page(), Away: true}}},
				draw.ResourceCell(),
			}},
		draw.Chart("Valid terms", "short", draw.Third,
			draw.History(`sum by ($JOB, resource) (distributed_lock_construct_held{R,kind="election"})`, "{{job}} {{resource}}"),
			"Leaders of each election. Good: 1. At 0 nobody leads; after a minute an alert fires if there are candidates. "+
				"Names folded into * add up.").Linking(draw.ToResource()).Largest(c.Boards.Top).Otherwise(none),
		draw.Chart("Candidates by what they see", "short", draw.Third,
			draw.History(`sum by (leader) (distributed_lock_candidates{R})`, "{{leader}}"),
			"Campaigns in progress. Good: only seen, which wait behind a leader. none: too few nodes answer, or the holder "+
				"is no candidate. unknown: no answer yet.").Stacked().
			Tinted(draw.In(draw.Green, "seen"), draw.In(draw.Yellow, "unknown"), draw.In(draw.Red, "none")).Otherwise(none),
		draw.Chart("Ends of terms by cause", "ops", draw.Third,
			draw.History(`sum by (end) (rate(distributed_lock_construct_ended_total{R,kind="election"}[$__rate_interval]))`,
				"{{end}}"),
			"Terms that ended per second. Good: few, and only released. lost: the leader could not renew. closed: its "+
				"Locker was closed while it led.").Stacked().Rare().Otherwise(none),
	}
}

// semaphores shows the slots in use, and who waits for one.
func semaphores(c config.Config) []draw.Panel {
	const (
		by    = "$JOB, resource"
		inUse = `sum by (` + by + `) (distributed_lock_construct_held{R,kind="semaphore"})`
		slots = `max by (` + by + `) (distributed_lock_slots{R})`
	)
	none := "no process uses a semaphore"
	most := func(expr string) string { return fmt.Sprintf("%s and topk(%d, %s)", expr, c.Boards.Top, inUse) }
	return []draw.Panel{
		{Kind: draw.Table, Title: "Semaphores", Width: draw.Half, Height: draw.ChartHeight, Unit: "short",
			Decimals: draw.Auto, None: none,
			About: "Slots of the semaphores that are used most, by job. Good: a slot is free, or nobody waits. All in use and " +
				"callers wait: after five minutes an alert fires. Slots is empty for names folded into *.",
			Queries: draw.Instants("sort_desc("+most(inUse)+")", most(slots),
				most(`sum by (`+by+`) (distributed_lock_construct_waiting{R,kind="semaphore"})`)),
			Columns: []draw.Column{
				{Title: "In use", Unit: "short", Steps: draw.Neutral(), Width: 90},
				{Title: "Slots", Unit: "short", Steps: draw.Neutral(), Width: 90},
				{Title: "Waiting", Unit: "short", Steps: draw.Steps(draw.Green, draw.At(c.Alerts.Waiters, draw.Orange)), Width: 90},
			},
			Order: []string{"resource", "job"}, Cells: []draw.LabelColumn{draw.ResourceCell()}, Narrow: draw.LabelWidth},
		draw.RatioChart("Slots in use", draw.Quarter,
			draw.History(`sum by ($CLUSTER resource) (distributed_lock_construct_held{R,`+
				`kind="semaphore"}) / max by ($CLUSTER resource) (distributed_lock_slots{R})`, "{{resource}}"),
			"Share of the slots that the chosen jobs hold. Good: below 100 %. At 100 % callers wait.").
			Marked(draw.Steps(draw.Green, draw.At(1, draw.Orange))).Largest(c.Boards.Top).Otherwise(none),
		draw.Chart("Leases by kind", "short", draw.Quarter,
			draw.History(`sum by (kind) (distributed_lock_construct_held{R})`, "{{kind}}"),
			"Valid leases that are part of a construct: terms, slots, locks of sets, readers and writers. Good: follows the "+
				"load.").Stacked().Otherwise("no process uses a construct"),
	}
}

// readWrite shows the read/write locks, and whether readers keep a writer waiting.
func readWrite(c config.Config) []draw.Panel {
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
	return []draw.Panel{
		{Kind: draw.Table, Title: "Read/write locks", Width: draw.Half, Height: draw.ChartHeight, Unit: "short",
			Decimals: draw.Auto, None: none,
			About: fmt.Sprintf("Read/write locks that are held most, by job. Good: either readers or one writer. "+
				"An oldest wait "+
				"above %v s while readers hold: a writer starves, and an alert fires.", limit),
			Queries: draw.Instants("sort_desc("+most(readers)+")", most(writers),
				most(`sum by (`+by+`) (distributed_lock_construct_waiting{R,kind=~"read|write"})`), most(oldest)),
			Columns: []draw.Column{
				{Title: "Readers", Unit: "short", Steps: draw.Neutral(), Width: 90},
				{Title: "Writers", Unit: "short", Steps: draw.Neutral(), Width: 90},
				{Title: "Waiting", Unit: "short", Steps: draw.Steps(draw.Green, draw.At(c.Alerts.Waiters, draw.Orange)), Width: 90},
				{Title: "Oldest wait", Unit: "s", Decimals: draw.Auto, Steps: draw.Steps(draw.Green, draw.At(limit, draw.Orange)),
					Width: 110},
			},
			Order: []string{"resource", "job"}, Cells: []draw.LabelColumn{draw.ResourceCell()}, Narrow: draw.LabelWidth},
		draw.Chart("Readers and writers", "short", draw.Quarter,
			draw.History(`sum by (kind) (distributed_lock_construct_held{R,kind=~"read|write"})`, "{{kind}}"),
			"Valid leases of read/write locks. Good: readers come and go. Readers that never fall: see the oldest wait.").
			Stacked().Otherwise(none),
		draw.Chart("Longest wait while readers hold", "s", draw.Quarter,
			draw.History(oldest+` * on ($CLUSTER resource) group_left () (max by ($CLUSTER resource) (`+
				`distributed_lock_construct_held{R,kind="read"}) > bool 0)`, "{{job}} {{resource}}"),
			fmt.Sprintf("Age of the oldest call that waits for a lock that readers hold. Good: returns to 0, "+
				"which also means no reader. Above "+
				"%v s a writer starves behind readers.", limit)).
			Marked(draw.Steps(draw.Green, draw.At(limit, draw.Orange))).Linking(draw.ToResource()).
			Largest(c.Boards.Top).Otherwise(none),
	}
}
