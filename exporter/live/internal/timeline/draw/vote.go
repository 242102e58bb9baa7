package draw

import (
	"cmp"
	"slices"

	"github.com/lockscope/lockscope/exporter/internal/traceevent"
	"github.com/lockscope/lockscope/exporter/live/internal/text"
	"github.com/lockscope/lockscope/exporter/live/internal/timeline"
	"github.com/lockscope/lockscope/lock"
)

// node returns the rows of a node.
func (d *drawing) node(name string) *traceevent.Lanes {
	if d.nodes == nil {
		d.nodes = d.trace.Process(d.title+": nodes", "commands that ended")
	}
	lanes := d.lanes[name]
	if lanes == nil {
		nodes, shown, order := d.nodes, text.Name(name), len(d.lanes)
		lanes = traceevent.NewLanes(func(n int) *traceevent.Thread { return nodes.Thread(numbered(shown, n), order) })
		d.lanes[name] = lanes
	}
	return lanes
}

// drawVotes draws the commands of nodes.
func (d *drawing) drawVotes() {
	var votes []*timeline.Event
	for i := range d.Events {
		if d.Events[i].Kind == timeline.Vote {
			votes = append(votes, &d.Events[i])
		}
	}
	slices.SortStableFunc(votes, func(x, y *timeline.Event) int {
		return cmp.Or(cmp.Compare(x.Start, y.Start), cmp.Compare(x.Name, y.Name))
	})
	for _, name := range nodesOf(votes) {
		d.node(name)
	}
	for _, e := range votes {
		args := traceevent.Args{"verdict": e.Outcome, "operation": e.What, "instance": e.Of.Instance}
		if e.Attempt > 0 {
			args["attempt"] = e.Attempt
		}
		addText(args, "error", e.Detail)
		s := traceevent.Slice{
			Name: e.What + ": " + words(e.Outcome), Cat: "vote", Start: e.Start, End: e.End, Args: args,
		}
		if e.Outcome == string(lock.VerdictFailed) {
			s.Color = traceevent.ColorFailed
		}
		d.node(e.Name).Take(e.Start, e.End).Slice(s)
	}
}

// nodesOf returns the names of nodes in order, so that rows do not depend on which answered first.
func nodesOf(votes []*timeline.Event) (all []string) {
	for _, e := range votes {
		all = append(all, e.Name)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// drawRestarts draws restarts of nodes on the first row of each.
func (d *drawing) drawRestarts() {
	for _, r := range d.Restarts {
		name := "restart"
		if r.Evicted {
			name = "keys evicted"
		}
		d.node(r.Node).First().Instant(traceevent.Instant{Name: name, Cat: "restart", At: r.At, Args: traceevent.Args{
			"votes": !r.Enforced, "locks_may_be_forgotten_for_seconds": r.Left.Seconds(),
		}})
	}
}
