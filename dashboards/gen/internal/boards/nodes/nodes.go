// Package nodes has the board of lock nodes: which answer, how fast, what fails, and how many may still fail.
package nodes

import (
	"fmt"

	"github.com/lockscope/lockscope/dashboards/deploy"
	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
	"github.com/lockscope/lockscope/dashboards/gen/internal/draw"
	"github.com/lockscope/lockscope/dashboards/gen/internal/rules"
)

// Board is the board of lock nodes.
func Board(c config.Config) draw.Board {
	return draw.Board{
		UID: "lockscope-nodes", Title: "Distributed locks / Nodes", From: "now-3h",
		About: "Lock nodes as the processes see them: which answer, how fast, what fails, and how many may still " +
			"fail.",
		Variables: append(draw.Processes("distributed_lock_node_up"), draw.LockNodes("distributed_lock_node_up")),
		Rows: []draw.Row{
			{Title: "At a glance", Panels: nodeTiles(c)},
			{Title: "Which nodes", Panels: nodeTop(c)},
			{Title: "Nodes as processes see them", Panels: nodeViews()},
			{Title: "Latency", Panels: nodeLatency(c)},
			{Title: "Failures", Panels: nodeFailures()},
			draw.Folded("Connections", nodeConnections()),
			draw.Folded("Votes to spare", nodeMargin()),
		},
	}
}

// withoutMargin is the share of won rounds that one vote fewer would have lost. The bound 0 has two spellings.
func withoutMargin() string {
	return fmt.Sprintf(`sum(rate(distributed_lock_vote_margin_bucket{I,%s}[$__rate_interval]))
		/ (sum(rate(distributed_lock_vote_margin_count{I}[$__rate_interval])) > 0)`, deploy.Bound(0))
}

const nodeRate = `sum by ($CLUSTER lock_node, le)
	(rate(distributed_lock_node_duration_seconds_bucket{N,operation="acquire"}[$__rate_interval]))`

// A tile and the list beside it ask the same of the time shown: the tile of all nodes, the list of each.

// failedShare sums series with different labels: commands without a connection have no duration. Commands that were
// not sent have not failed.
func failedShare(by string) string {
	return fmt.Sprintf(`sum%[1]s
		(increase(distributed_lock_node_failures_total{N,reason!~"canceled|busy|guard"}[$__range]))
		/ (sum%[1]s (increase(distributed_lock_node_duration_seconds_count{N}[$__range])
			or increase(distributed_lock_node_failures_total{N,reason=~"refused|dial"}[$__range])) > 0)`, by)
}

const acquireP99 = `histogram_quantile(0.99, sum by ($CLUSTER lock_node, le)
	(increase(distributed_lock_node_duration_seconds_bucket{N,operation="acquire"}[$__range])))`

// unusable is the share of processes that cannot use a node.
const unusable = `(1 - ` + rules.NodeUsable + `{M})`

func nodeTiles(c config.Config) []draw.Panel {
	return []draw.Panel{
		draw.Tile("Sets of nodes", "short", 0, draw.Neutral(), draw.Now(`count(`+quorum+`)`),
			"Sets of lock nodes, by job and back end, listed in the table below. Good: as many as you set up."),
		draw.Tile("Without a quorum", "short", 0, draw.AnyIsBad(), draw.Now(`count(`+spare+` < 0) or 0 * count(`+spare+`)`),
			"Sets with fewer usable nodes than the quorum: nobody gets a lock there. Good: 0. Needs the recording "+
				"rules."),
		draw.Tile("Unusable nodes", "short", 0, draw.AnyIsSuspicious(),
			draw.Now(`count(`+unusable+` >= 0.5) or 0 * count(`+unusable+`)`),
			"Nodes that half of the processes or more cannot use: silent, refusing, or not voting after a restart. Good: 0. "+
				"Needs the recording rules."),
		ToSpare(
			"Usable nodes beyond the quorum, of the set with the fewest. Good: 1 of 3, 2 of 5. At 0 the next failure " +
				"stops all locking in that set: bring a node back now."),
		draw.Tile("Slowest node, p99", "s", draw.Auto, draw.Above(c.Alerts.NodeP99Seconds),
			draw.Now("max("+acquireP99+" >= 0)"),
			fmt.Sprintf(
				"One acquire command in a hundred took longer on the slowest node, in the time shown. Good: a few milliseconds. "+
					"Above %v s an alert fires: near the node timeout votes are lost.", c.Alerts.NodeP99Seconds)),
		draw.Tile("Failed commands", "percentunit", 2, failedSteps(),
			draw.Now(failedShare("")),
			"Share of commands that failed in the time shown, including those without a connection. Good: 0. A node that "+
				"refuses a vote has not failed, nor has a command that was not sent. See Failures by reason."),
		draw.Tile("No spare vote", "percentunit", 1, draw.Steps(draw.Green, draw.At(.05, draw.Orange), draw.At(.5, draw.Red)),
			draw.Now(withoutMargin()),
			"Share of won rounds with no vote beyond the quorum. Good: near 0. It rises when a node does not vote, "+
				"even one that is up but waits after a restart.").Otherwise("no round won"),
		draw.Tile("Commands", "ops", draw.Auto, draw.Neutral(),
			draw.History(`sum(rate(distributed_lock_node_duration_seconds_count{N}[$__rate_interval]))`, ""),
			"Commands per second on the chosen nodes. Good: three to five per acquire and node. Much more: see "+
				"attempts per acquire."),
	}
}

// nodeTop shows the nodes to look at first.
func nodeTop(c config.Config) []draw.Panel {
	top := func(title, unit, expr, about string, s []draw.Step) draw.Panel {
		return draw.Panel{Kind: draw.TopList, Title: title, About: about, Unit: unit, Decimals: draw.Auto,
			Width: draw.Third, Height: draw.ChartHeight,
			Zero: true,
			Queries: []draw.Query{{Expr: fmt.Sprintf("topk(%d, %s)", c.Boards.Top, expr), Legend: "{{lock_node}}",
				Instant: true}},
			Links: []draw.Link{draw.ToNode()}, Steps: s}
	}
	return []draw.Panel{
		top("Failed commands by node", "percentunit", failedShare(" by ($CLUSTER lock_node)"),
			"Share of a node's commands that failed in the time shown, counted as in the tile above. Good: none, or similar "+
				"on all nodes while clients restart. Click a node to see it alone.", failedSteps()),
		top("Slowest nodes, p99", "s", acquireP99+" >= 0",
			"One acquire command in a hundred took longer, in the time shown. Good: a few milliseconds, similar on all nodes.",
			draw.Above(c.Alerts.NodeP99Seconds)),
		top("Processes that cannot use it", "percentunit", `max by ($CLUSTER lock_node) `+unusable,
			"Share of processes most of whose commands of the last minutes failed on the node, or that do not let it vote yet "+
				"after a restart. Good: 0. All processes: the node. Some: their network or credentials. Needs the recording "+
				"rules.", draw.Steps(draw.Green, draw.At(.01, draw.Orange), draw.At(.5, draw.Red))),
	}
}

func failedSteps() []draw.Step {
	return draw.Steps(draw.Green, draw.At(.001, draw.Orange), draw.At(.05, draw.Red))
}

// nodeConnections is empty for clients that do not report connections.
func nodeConnections() []draw.Panel {
	const none = "no connections are exported (exporter.WithConnections)"
	return []draw.Panel{
		draw.RatioChart("Busy connections", draw.Third,
			draw.History(`sum by ($CLUSTER lock_node) (distributed_lock_connections{N,state="busy"})
			/ (sum by ($CLUSTER lock_node) (distributed_lock_connections{N}) > 0)`, "{{lock_node}}"),
			"Share of connections to a node that are in use. Good: well below 100 %. Near it, the pool is too small "+
				"or commands hang.").Otherwise(none).Linking(draw.ToNode()),
		draw.Chart("Waiting for a connection", "short", draw.Third,
			draw.History("sum by ($CLUSTER lock_node) (distributed_lock_connection_waiting{N})", "{{lock_node}}"),
			"Commands that wait for a connection from the pool. Good: 0. Otherwise acquires are slow although the "+
				"node is not: enlarge the pool.").Otherwise(none).Reaching(1).Linking(draw.ToNode()),
		draw.Chart("Dials and failed dials", "ops", draw.Third, []draw.Query{
			{Expr: "sum(rate(distributed_lock_connection_dials_total{N}[$__rate_interval]))", Legend: "dials"},
			{Expr: "sum(rate(distributed_lock_connection_dial_failures_total{N}[$__rate_interval]))",
				Legend: "failed"}},
			"New connections per second, and failed attempts. Good: near none, because connections are kept. Many "+
				"dials: something closes connections. Failed: a node is down or refuses.").Otherwise(none).Rare(),
	}
}

func nodeViews() []draw.Panel {
	share := draw.Steps(draw.Red, draw.At(0.5, draw.Orange), draw.At(1, draw.Green))
	return []draw.Panel{
		nodeSets(),
		{Kind: draw.States, Title: "Processes that get an answer", Width: draw.Half, Height: 7, Unit: "percentunit",
			Decimals: 0,
			Zero:     true,
			One:      true, Steps: share,
			About: "Green: every process gets answers from the node. Orange: up to half get none. Red: most get none. Good: " +
				"all green. None means five failures in a row, or one when 30 seconds have passed since the last success. " +
				"A gap: no process has asked the node for two minutes. Leaks has the scanner's view of it.",
			Queries: draw.History(`avg by ($CLUSTER lock_node) (distributed_lock_node_up{N})`, "{{lock_node}}"),
			Links:   []draw.Link{draw.ToNode()}},
		{Kind: draw.States, Title: "Processes that can use the node", Width: draw.Half, Height: 7, Unit: "percentunit",
			Decimals: 0,
			Zero:     true, One: true, Steps: share,
			About: "Like the panel beside it, but by the results of the last five minutes. A node that answers with " +
				"errors, or does not vote after a restart, is not usable. Good: all green. Quorum alerts use these " +
				"values. Needs the recording rules.",
			Queries: draw.History(rules.NodeUsable+"{M}", "{{lock_node}}"), Links: []draw.Link{draw.ToNode()}},
		{Kind: draw.Table, Title: "Failing commands by process and node", Width: draw.Full, Height: 5, Unit: "percentunit",
			Decimals: 1,
			None:     "no command fails, or the rules are not evaluated",
			About: "Share of acquire commands of the last five minutes that failed, if more than 1 %. Good: empty. " +
				"One process with many nodes: its network or credentials. One node with many processes: the node. " +
				"Needs the recording rules.",
			Queries: draw.Now("sort_desc(" + rules.NodeErrors + "{N} > 0.01)"),
			Columns: []draw.Column{{Title: "Failed", Unit: "percentunit", Decimals: 1,
				Steps: draw.Steps(draw.Orange, draw.At(.5, draw.Red))}},
			Hidden: []string{"__name__"}},
	}
}

func nodeLatency(c config.Config) []draw.Panel {
	byOperation := `sum by (operation, le) (rate(distributed_lock_node_duration_seconds_bucket{N}[$__rate_interval]))`
	all := `sum by (le) (rate(distributed_lock_node_duration_seconds_bucket{N}[$__rate_interval]))`
	return []draw.Panel{
		draw.Chart("Acquire p99 by node", "s", draw.Half,
			draw.History("histogram_quantile(0.99, "+nodeRate+")", "{{lock_node}}"),
			"One acquire command in a hundred takes longer. Good: below the dashed line, similar on all nodes. One "+
				"node: look at SLOWLOG, fork pauses and fsync there. All nodes: the network, or CPU of the clients.").
			Marked(draw.Above(c.Alerts.NodeP99Seconds)).Linking(draw.ToNode()),
		draw.Chart("Acquire p50 by node", "s", draw.Half,
			draw.History("histogram_quantile(0.5, "+nodeRate+")", "{{lock_node}}"),
			"The median time of an acquire command. Good: one round trip. The middle node decides a lock: a single "+
				"distant node costs nothing until another fails.").Linking(draw.ToNode()),
		draw.Chart("p99 by operation", "s", draw.Half, draw.History("histogram_quantile(0.99, "+byOperation+")",
			"{{operation}}"),
			"One command in a hundred takes longer, by operation. Good: similar for all operations. Slow extends "+
				"endanger leases. Slow releases delay the next holder."),
		draw.HeatMap("Command time distribution", draw.Half, all,
			"Commands by duration. Fuller cells stand out. Good: one narrow band. A thin second band at the node "+
				"timeout is commands that timed out."),
	}
}

func nodeFailures() []draw.Panel {
	failed := `(rate(distributed_lock_node_failures_total{N}[$__rate_interval]))`
	return []draw.Panel{
		draw.Chart("Failures by reason", "ops", draw.Third, draw.History("sum by (reason) "+failed, "{{reason}}"),
			"Good: none but canceled. timeout, refused, dial: the node or the network. guard: it restarted and may "+
				"not vote yet. readonly: it is a replica. busy: not sent, because earlier commands still hang. other: "+
				"see the log.").
			Stacked().Rare().Tinted(draw.In(draw.Red, "timeout"), draw.In("dark-red", "refused"),
			draw.In("semi-dark-red", "dial"),
			draw.In(draw.Purple, "readonly"), draw.In(draw.Blue, "noscript"), draw.In(draw.Yellow, "guard"),
			draw.In(draw.Orange, "busy"), draw.In("gray", "canceled"),
			draw.In("light-red", "other")),
		draw.Chart("Failures by node", "ops", draw.Third,
			draw.History("sum by ($CLUSTER lock_node) "+failed, "{{lock_node}}"),
			"Good: none. One node: that node. All nodes: the processes, or the network between.").Stacked().Rare().Linking(
			draw.ToNode()),
		draw.Chart("Failures by operation", "ops", draw.Third, draw.History("sum by (operation) "+failed, "{{operation}}"),
			"Good: none. extend: leases are in danger. release: the next holder waits. subscribe: waiters are not "+
				"woken and poll.").Stacked().Rare(),
	}
}

func nodeMargin() []draw.Panel {
	return []draw.Panel{
		{Kind: draw.Heat, Title: "Spare votes distribution", Width: draw.Half, Height: draw.ChartHeight, Unit: "short",
			Decimals: draw.Auto,
			About: "Won rounds by votes beyond the quorum, late votes included. Good: only the highest possible row " +
				"stands out: 1 of 3 nodes, 2 of 5. If row 0 does, the next node that fails is one too many.",
			Queries: draw.History(`sum by (le) (rate(distributed_lock_vote_margin_bucket{I}[$__rate_interval]))`, "{{le}}")},
		draw.RatioChart("Rounds won without a spare vote", draw.Quarter, draw.History(withoutMargin(), "share of won rounds"),
			"Share of won rounds that one vote fewer would have lost. Good: near 0. A step up is a node that stopped "+
				"voting.").
			Marked(draw.Steps(draw.Green, draw.At(.05, draw.Orange), draw.At(.5, draw.Red))),
		draw.Chart("Mean spare votes", "short", draw.Quarter,
			draw.History(`sum(rate(distributed_lock_vote_margin_sum{I}[$__rate_interval]))
			/ (sum(rate(distributed_lock_vote_margin_count{I}[$__rate_interval])) > 0)`, "votes"),
			"Mean votes beyond the quorum of a won round. Good: nodes minus quorum. Each node that does not vote "+
				"takes one."),
	}
}
