package boards

import (
	"fmt"

	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
	"github.com/lockscope/lockscope/dashboards/gen/internal/draw"
)

// misuse is a way to use locks that works until it does not.
type misuse struct {
	title, counter, about, advice string
	steps                         []draw.Step
}

func misuses() []misuse {
	return []misuse{
		{title: "Leases ended by MaxHold", counter: `distributed_lock_lost_total{R,reason="max_hold"}`,
			steps:  draw.AnyIsSuspicious(),
			about:  "Leases in the time shown that ended because they reached their MaxHold. Good: 0.",
			advice: "Split the work, or raise MaxHold above its longest run."},
		{title: "Work outlived its lease", counter: "distributed_lock_outlived_total{R}", steps: draw.AnyIsBad(),
			about: "Leases in the time shown that were released more than a second after they were lost: the work went on " +
				"without the lock. " +
				"Good: 0.",
			advice: "Pass the context of the lease to everything that the work calls, and stop when it ends."},
		{title: "NoRenew leases near their end", counter: "distributed_lock_close_calls_total{R}",
			steps: draw.AnyIsSuspicious(),
			about: "Leases without renewal in the time shown that were released with less than 10 % of their validity left. " +
				"Good: 0.",
			advice: "Drop NoRenew, or make the TTL twice as long as the longest run."},
		{title: "Fences never read", counter: "distributed_lock_unfenced_total{R}", steps: draw.Neutral(),
			about: "Leases released in the time shown whose fencing token nobody read. Good: 0 where the resource can check " +
				"one.",
			advice: "Send the fencing token with each write, and let the resource refuse older ones."},
	}
}

// adoptionBoard shows whether locks are used as intended.
func adoptionBoard(c config.Config) draw.Board {
	var tiles, advice, tables []draw.Panel
	for _, m := range misuses() {
		tiles = append(tiles, draw.Tile(m.title, "short", 0, m.steps, draw.Now(`sum(increase(`+m.counter+`[$__range]))`),
			m.about).
			Wide(draw.Quarter))
		advice = append(advice, draw.Panel{Kind: draw.Words, Title: m.title + ": advice", Text: m.advice,
			Width: draw.Quarter, Height: 3, About: "What to change if there are such leases."})
		tables = append(tables, m.byResource(c))
	}
	return draw.Board{
		UID: "lockscope-adoption", Title: "Distributed locks / Adoption", From: "now-24h",
		About:     "Whether services use locks as intended: four habits that work until the day that they do not.",
		Variables: append(draw.Processes("distributed_lock_waiting"), draw.Resources()),
		Marks:     []draw.Mark{draw.Losses()},
		Rows:      []draw.Row{{Panels: tiles}, {Panels: advice}, {Panels: tables}},
	}
}

// byResource has the resources to look at first.
func (m misuse) byResource(c config.Config) draw.Panel {
	const by = "resource" // without the job, so that its name has room
	count := `sum by (` + by + `) (increase(` + m.counter + `[$__range]))`
	released := `(sum by (` + by + `) (increase(distributed_lock_hold_seconds_count{R}[$__range])) > 0)`
	most := func(expr string) string { return fmt.Sprintf("%s and topk(%d, %s)", expr, c.Boards.Top, count) }
	return draw.Panel{Kind: draw.Table, Title: m.title + ", by resource", Width: draw.Quarter, Height: 9, Unit: "short",
		Decimals: draw.Auto,
		None:     "no process counts this",
		About:    m.about + " The share is of all leases that ended.",
		Queries:  draw.Instants(most(count), most(`clamp_max(`+count+` / `+released+`, 1)`)),
		Columns: []draw.Column{
			{Title: "Leases", Unit: "short", Steps: m.steps, Width: 80},
			{Title: "Share", Unit: "percentunit", Decimals: 1, Steps: draw.Neutral(), Width: 80},
		},
		Sorted: []string{"Leases"}, Order: []string{"resource", "Value #A", "Value #B"},
		Cells: []draw.LabelColumn{draw.ResourceOfAnyJob()},
	}
}
