package boards

import (
	"fmt"
	"time"

	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
)

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
				{title: "Waiting", unit: "short", steps: steps(green, step{c.Alerts.Waiters, orange}), width: 90},
				{title: "Oldest wait", unit: "s", decimals: auto, steps: steps(green, step{limit, orange}), width: 110},
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
			marked(steps(green, step{limit, orange})).leading(toResource()).largest(c.Boards.Top).otherwise(none),
	}
}
