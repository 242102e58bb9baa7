package boards

import (
	"fmt"

	"github.com/lockscope/lockscope/dashboards/deploy"
	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
	"github.com/lockscope/lockscope/dashboards/gen/internal/rules"
)

func nodesBoard(c config.Config) board {
	return board{
		UID: "lockscope-nodes", Title: "Distributed locks / Nodes", From: "now-3h",
		About: "Lock nodes as the processes see them: which answer, how fast, what fails, and how many may still " +
			"fail.",
		Variables: append(processes("distributed_lock_node_up"), redisNodes("distributed_lock_node_up")),
		Rows: []row{
			{Title: "At a glance", Panels: nodeTiles(c)},
			{Title: "Which nodes", Panels: nodeTop(c)},
			{Title: "Nodes as processes see them", Panels: nodeViews()},
			{Title: "Latency", Panels: nodeLatency(c)},
			{Title: "Failures", Panels: nodeFailures()},
			folded("Connections", nodeConnections()),
			folded("Votes to spare", nodeMargin()),
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

func nodeTiles(c config.Config) []panel {
	return []panel{
		tile("Sets of nodes", "short", 0, neutral(), now(`count(`+quorum+`)`),
			"Sets of lock nodes, by job and back end, listed in the table below. Good: as many as you set up."),
		tile("Without a quorum", "short", 0, anyIsBad(), now(`count(`+spare+` < 0) or 0 * count(`+spare+`)`),
			"Sets with fewer usable nodes than the quorum: nobody gets a lock there. Good: 0. Needs the recording "+
				"rules."),
		tile("Unusable nodes", "short", 0, anyIsSuspicious(),
			now(`count(`+unusable+` >= 0.5) or 0 * count(`+unusable+`)`),
			"Nodes that half of the processes or more cannot use: silent, refusing, or not voting after a restart. Good: 0. "+
				"Needs the recording rules."),
		nodesToSpare(
			"Usable nodes beyond the quorum, of the set with the fewest. Good: 1 of 3, 2 of 5. At 0 the next failure " +
				"stops all locking in that set: bring a node back now."),
		tile("Slowest node, p99", "s", auto, above(c.Alerts.NodeP99Seconds),
			now("max("+acquireP99+" >= 0)"),
			fmt.Sprintf(
				"One acquire command in a hundred took longer on the slowest node, in the time shown. Good: a few milliseconds. "+
					"Above %v s an alert fires: near the node timeout votes are lost.", c.Alerts.NodeP99Seconds)),
		tile("Failed commands", "percentunit", 2, failedSteps(),
			now(failedShare("")),
			"Share of commands that failed in the time shown, including those without a connection. Good: 0. A node that "+
				"refuses a vote has not failed, nor has a command that was not sent. See Failures by reason."),
		tile("No spare vote", "percentunit", 1, steps(green, at(.05, orange), at(.5, red)),
			now(withoutMargin()),
			"Share of won rounds with no vote beyond the quorum. Good: near 0. It rises when a node does not vote, "+
				"even one that is up but waits after a restart.").Otherwise("no round won"),
		tile("Commands", "ops", auto, neutral(),
			course(`sum(rate(distributed_lock_node_duration_seconds_count{N}[$__rate_interval]))`, ""),
			"Commands per second on the chosen nodes. Good: three to five per acquire and node. Much more: see "+
				"attempts per acquire."),
	}
}

// nodeTop shows the nodes to look at first.
func nodeTop(c config.Config) []panel {
	top := func(title, unit, expr, about string, s []step) panel {
		return panel{Kind: topList, Title: title, About: about, Unit: unit, Decimals: auto, Width: third, Height: chartHeight,
			Zero: true,
			Queries: []query{{Expr: fmt.Sprintf("topk(%d, %s)", c.Boards.Top, expr), Legend: "{{lock_node}}",
				Instant: true}},
			Links: []link{toNode()}, Steps: s}
	}
	return []panel{
		top("Failed commands by node", "percentunit", failedShare(" by ($CLUSTER lock_node)"),
			"Share of a node's commands that failed in the time shown, counted as in the tile above. Good: none, or similar "+
				"on all nodes while clients restart. Click a node to see it alone.", failedSteps()),
		top("Slowest nodes, p99", "s", acquireP99+" >= 0",
			"One acquire command in a hundred took longer, in the time shown. Good: a few milliseconds, similar on all nodes.",
			above(c.Alerts.NodeP99Seconds)),
		top("Processes that cannot use it", "percentunit", `max by ($CLUSTER lock_node) `+unusable,
			"Share of processes most of whose commands of the last minutes failed on the node, or that do not let it vote yet "+
				"after a restart. Good: 0. All processes: the node. Some: their network or credentials. Needs the recording "+
				"rules.", steps(green, at(.01, orange), at(.5, red))),
	}
}

func failedSteps() []step { return steps(green, at(.001, orange), at(.05, red)) }

// nodeConnections is empty for clients that do not report connections.
func nodeConnections() []panel {
	const none = "no connections are exported (exporter.WithConnections)"
	return []panel{
		ratioChart("Busy connections", third,
			course(`sum by ($CLUSTER lock_node) (distributed_lock_connections{N,state="busy"})
			/ (sum by ($CLUSTER lock_node) (distributed_lock_connections{N}) > 0)`, "{{lock_node}}"),
			"Share of connections to a node that are in use. Good: well below 100 %. Near it, the pool is too small "+
				"or commands hang.").Otherwise(none).Linking(toNode()),
		chart("Waiting for a connection", "short", third,
			course("sum by ($CLUSTER lock_node) (distributed_lock_connection_waiting{N})", "{{lock_node}}"),
			"Commands that wait for a connection from the pool. Good: 0. Otherwise acquires are slow although the "+
				"node is not: enlarge the pool.").Otherwise(none).Reaching(1).Linking(toNode()),
		chart("Dials and failed dials", "ops", third, []query{
			{Expr: "sum(rate(distributed_lock_connection_dials_total{N}[$__rate_interval]))", Legend: "dials"},
			{Expr: "sum(rate(distributed_lock_connection_dial_failures_total{N}[$__rate_interval]))",
				Legend: "failed"}},
			"New connections per second, and failed attempts. Good: near none, because connections are kept. Many "+
				"dials: something closes connections. Failed: a node is down or refuses.").Otherwise(none).Rare(),
	}
}

func nodeViews() []panel {
	share := steps(red, at(0.5, orange), at(1, green))
	return []panel{
		nodeSets(),
		{Kind: states, Title: "Processes that get an answer", Width: half, Height: 7, Unit: "percentunit", Decimals: 0,
			Zero: true,
			One:  true, Steps: share,
			About: "Green: every process's last command got an answer. Orange: some did not. Red: most did not. Good: " +
				"all green. An idle process keeps its last result: compare with the table.",
			Queries: course(`avg by ($CLUSTER lock_node) (distributed_lock_node_up{N})`, "{{lock_node}}"),
			Links:   []link{toNode()}},
		{Kind: states, Title: "Processes that can use the node", Width: half, Height: 7, Unit: "percentunit", Decimals: 0,
			Zero: true, One: true, Steps: share,
			About: "Like the panel beside it, but by the results of the last five minutes. A node that answers with " +
				"errors, or does not vote after a restart, is not usable. Good: all green. Quorum alerts use these " +
				"values. Needs the recording rules.",
			Queries: course(rules.NodeUsable+"{M}", "{{lock_node}}"), Links: []link{toNode()}},
		{Kind: grid, Title: "Failing commands by process and node", Width: full, Height: 5, Unit: "percentunit", Decimals: 1,
			None: "every process can use every node",
			About: "Share of acquire commands of the last five minutes that failed, if more than 1 %. Good: empty. " +
				"One process with many nodes: its network or credentials. One node with many processes: the node. " +
				"Needs the recording rules.",
			Queries: now("sort_desc(" + rules.NodeErrors + "{N} > 0.01)"),
			Columns: []column{{Title: "Failed", Unit: "percentunit", Decimals: 1, Steps: steps(orange, at(.5, red))}},
			Hidden:  []string{"__name__"}},
	}
}

func nodeLatency(c config.Config) []panel {
	byOperation := `sum by (operation, le) (rate(distributed_lock_node_duration_seconds_bucket{N}[$__rate_interval]))`
	all := `sum by (le) (rate(distributed_lock_node_duration_seconds_bucket{N}[$__rate_interval]))`
	return []panel{
		chart("Acquire p99 by node", "s", half, course("histogram_quantile(0.99, "+nodeRate+")", "{{lock_node}}"),
			"One acquire command in a hundred takes longer. Good: below the dashed line, similar on all nodes. One "+
				"node: look at SLOWLOG, fork pauses and fsync there. All nodes: the network, or CPU of the clients.").
			Marked(above(c.Alerts.NodeP99Seconds)).Linking(toNode()),
		chart("Acquire p50 by node", "s", half, course("histogram_quantile(0.5, "+nodeRate+")", "{{lock_node}}"),
			"The median time of an acquire command. Good: one round trip. The middle node decides a lock: a single "+
				"distant node costs nothing until another fails.").Linking(toNode()),
		chart("p99 by operation", "s", half, course("histogram_quantile(0.99, "+byOperation+")", "{{operation}}"),
			"One command in a hundred takes longer, by operation. Good: similar for all operations. Slow extends "+
				"endanger leases. Slow releases delay the next holder."),
		heatMap("Command time distribution", half, all,
			"Commands by duration. Fuller cells stand out. Good: one narrow band. A thin second band at the node "+
				"timeout is commands that timed out."),
	}
}

func nodeFailures() []panel {
	failed := `(rate(distributed_lock_node_failures_total{N}[$__rate_interval]))`
	return []panel{
		chart("Failures by reason", "ops", third, course("sum by (reason) "+failed, "{{reason}}"),
			"Good: none but canceled. timeout, refused, dial: the node or the network. guard: it restarted and may "+
				"not vote yet. readonly: it is a replica. busy: not sent, because earlier commands still hang. other: "+
				"see the log.").
			Stacked().Rare().Tinted(in(red, "timeout"), in("dark-red", "refused"), in("semi-dark-red", "dial"),
			in(purple, "readonly"), in(blue, "noscript"), in(yellow, "guard"), in(orange, "busy"), in("gray", "canceled"),
			in("light-red", "other")),
		chart("Failures by node", "ops", third, course("sum by ($CLUSTER lock_node) "+failed, "{{lock_node}}"),
			"Good: none. One node: that node. All nodes: the processes, or the network between.").Stacked().Rare().Linking(
			toNode()),
		chart("Failures by operation", "ops", third, course("sum by (operation) "+failed, "{{operation}}"),
			"Good: none. extend: leases are in danger. release: the next holder waits. subscribe: waiters are not "+
				"woken and poll.").Stacked().Rare(),
	}
}

func nodeMargin() []panel {
	return []panel{
		{Kind: heat, Title: "Spare votes distribution", Width: half, Height: chartHeight, Unit: "short", Decimals: auto,
			About: "Won rounds by votes beyond the quorum, late votes included. Good: only the highest possible row " +
				"stands out: 1 of 3 nodes, 2 of 5. If row 0 does, the next node that fails is one too many.",
			Queries: course(`sum by (le) (rate(distributed_lock_vote_margin_bucket{I}[$__rate_interval]))`, "{{le}}")},
		ratioChart("Rounds won without a spare vote", quarter, course(withoutMargin(), "share of won rounds"),
			"Share of won rounds that one vote fewer would have lost. Good: near 0. A step up is a node that stopped "+
				"voting.").
			Marked(steps(green, at(.05, orange), at(.5, red))),
		chart("Mean spare votes", "short", quarter,
			course(`sum(rate(distributed_lock_vote_margin_sum{I}[$__rate_interval]))
			/ (sum(rate(distributed_lock_vote_margin_count{I}[$__rate_interval])) > 0)`, "votes"),
			"Mean votes beyond the quorum of a won round. Good: nodes minus quorum. Each node that does not vote "+
				"takes one."),
	}
}
