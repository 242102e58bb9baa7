package boards

import (
	"fmt"

	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
)

// misuse is a way to use locks that works until it does not.
type misuse struct {
	title, counter, about, advice string
	steps                         []step
}

func misuses() []misuse {
	return []misuse{
		{title: "Leases ended by MaxHold", counter: `distributed_lock_lost_total{R,reason="max_hold"}`,
			steps:  anyIsSuspicious(),
			about:  "Leases in the time shown that ended because they reached their MaxHold. Good: 0.",
			advice: "Split the work, or raise MaxHold above its longest run."},
		{title: "Work outlived its lease", counter: "distributed_lock_outlived_total{R}", steps: anyIsBad(),
			about: "Leases in the time shown that were released more than a second after they were lost: the work went on " +
				"without the lock. " +
				"Good: 0.",
			advice: "Pass the context of the lease to everything that the work calls, and stop when it ends."},
		{title: "NoRenew leases near their end", counter: "distributed_lock_close_calls_total{R}", steps: anyIsSuspicious(),
			about: "Leases without renewal in the time shown that were released with less than 10 % of their validity left. " +
				"Good: 0.",
			advice: "Drop NoRenew, or make the TTL twice as long as the longest run."},
		{title: "Fences never read", counter: "distributed_lock_unfenced_total{R}", steps: neutral(),
			about: "Leases released in the time shown whose fencing token nobody read. Good: 0 where the resource can check " +
				"one.",
			advice: "Send the fencing token with each write, and let the resource refuse older ones."},
	}
}

// adoptionBoard shows whether locks are used as intended.
func adoptionBoard(c config.Config) board {
	var tiles, advice, tables []panel
	for _, m := range misuses() {
		tiles = append(tiles, tile(m.title, "short", 0, m.steps, now(`sum(increase(`+m.counter+`[$__range]))`), m.about).
			wide(quarter))
		advice = append(advice, panel{kind: words, title: "Advice", text: m.advice, w: quarter, h: 3,
			about: "What to change if the number above is not 0."})
		tables = append(tables, m.byResource(c))
	}
	return board{
		uid: "lockscope-adoption", title: "Distributed locks / Adoption", from: "now-24h",
		about:     "Whether services use locks as intended: four habits that work until the day that they do not.",
		variables: append(processes("distributed_lock_wait_seconds_count"), resources(false)),
		marks:     []mark{losses()},
		rows:      []row{{panels: tiles}, {panels: advice}, {panels: tables}},
	}
}

// byResource has the resources to look at first.
func (m misuse) byResource(c config.Config) panel {
	const by = "resource" // without the job, so that its name has room
	count := `sum by (` + by + `) (increase(` + m.counter + `[$__range]))`
	released := `(sum by (` + by + `) (increase(distributed_lock_hold_seconds_count{R}[$__range])) > 0)`
	most := func(expr string) string { return fmt.Sprintf("%s and topk(%d, %s)", expr, c.Boards.Top, count) }
	return panel{kind: grid, title: m.title + ", by resource", w: quarter, h: 9, unit: "short", decimals: auto,
		none:    "no process counts this",
		about:   m.about + " The share is of all leases that ended.",
		queries: instants(most(count), most(`clamp_max(`+count+` / `+released+`, 1)`)),
		columns: []column{
			{title: "Leases", unit: "short", steps: m.steps, width: 80},
			{title: "Share", unit: "percentunit", decimals: 1, steps: neutral(), width: 80},
		},
		sorted: []string{"Leases"}, order: []string{"resource", "Value #A", "Value #B"},
		cells: []labelColumn{{column: "resource", links: []link{ofAnyJob()}}},
	}
}
