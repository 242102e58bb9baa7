package screen

import (
	"fmt"
	"strings"
	"time"

	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock/driver/inspect"
)

// nodes are a line for each set, followed by one for each of its nodes: for those that are not up, where room is short.
func nodes(s *Snapshot, o *Options, room int) (lines []line) {
	whole, more := 0, 0
	for i := range s.Sets {
		whole += len(s.Sets[i].Nodes)
	}
	var listed []*Node
	counts := make([]int, len(s.Sets)) // of listed nodes, by set
	for i := range s.Sets {
		for n := range s.Sets[i].Nodes {
			switch node := &s.Sets[i].Nodes[n]; {
			case whole > room && node.State == state.NodeUp:
			case len(listed) >= room:
				more++
			default:
				listed = append(listed, node)
				counts[i]++
			}
		}
	}
	head, rows := nodeTable(listed, o)
	if len(s.Sets) > 1 {
		lines = append(lines, head...)
	}
	for i := range s.Sets {
		lines = append(lines, setLines(&s.Sets[i], o, whole > room)...)
		if len(s.Sets) == 1 {
			lines = append(lines, head...)
		}
		lines, rows = append(lines, rows[:counts[i]]...), rows[counts[i]:]
	}
	if more > 0 {
		lines = append(lines, line{fmt.Sprintf("  and %d more nodes that are not up", more), yellow})
	}
	return lines
}

// nodeTable is a head and a line for each node; nothing without nodes.
func nodeTable(listed []*Node, o *Options) (head, rows []line) {
	if len(listed) == 0 {
		return nil, nil
	}
	g := grid{columns: []column{
		{title: "  NODE", squeeze: true}, {title: "STATE"}, {title: "LAST ANSWER", right: true},
		{title: "LATENCY", right: true}, {title: "SLOWEST", right: true, from: 100},
		{title: "", squeeze: true, prose: true},
	}}
	for _, n := range listed {
		g.rows = append(g.rows, []string{
			"  " + clean(n.Name), clean(n.State), ago(n.Answered, o.Now), latency(n.Latency), latency(n.Slowest),
			clean(n.Why),
		})
	}
	lines := g.lines(o.Width, func(row int) style { return nodeStyle(listed[row].State) })
	return lines[:1], lines[1:]
}

func nodeStyle(nodeState string) style {
	switch nodeState {
	case state.NodeUp:
		return plain
	case state.NodeDown:
		return red
	}
	return yellow
}

// setLines say how many nodes vote and how much of the keys was searched, and why something is unknown.
func setLines(set *Set, o *Options, short bool) []line {
	parts := []string{clean(set.Name) + ": " + votes(set)}
	if slow := slowest(set); slow > 0 && short { // no node has a line that says it
		parts = append(parts, "slowest "+latency(slow))
	}
	style := plain
	switch {
	case set.Read.IsZero():
		parts, style = append(parts, "no answer yet"), yellow
	case set.Stale(o.Now, o.staleAfter()) && !o.Paused:
		parts, style = append(parts, "STALE: read "+ago(set.Read, o.Now)), yellow
	case len(set.Nodes) > 0 && set.Voting() > 0:
		parts = append(parts, searched(&set.Scan, o.Now))
	}
	lines := []line{{strings.Join(parts, "; "), style}}
	if set.Err != "" && !set.Read.IsZero() {
		for _, part := range wrap("  some waiters are unknown: "+clean(set.Err), o.Width, troubleLines) {
			lines = append(lines, line{part, yellow})
		}
	}
	if set.Omitted > 0 {
		lines = append(lines, line{fmt.Sprintf("  %s with fewer waiters are counted and not listed",
			inspect.Count(set.Omitted, "lock")), yellow})
	}
	return lines
}

func votes(set *Set) string {
	up := set.Voting()
	switch {
	case len(set.Nodes) == 0:
		return "known from pages only"
	case set.Redlock && !set.Decides():
		return "no quorum" // the first lines say more
	case set.Redlock:
		return fmt.Sprintf("%d of %d nodes vote, %d needed", up, len(set.Nodes), set.Quorum())
	case len(set.Nodes) == 1:
		return clean(set.Nodes[0].State)
	}
	return fmt.Sprintf("%d of %d masters up", up, len(set.Nodes))
}

func slowest(set *Set) (most time.Duration) {
	for i := range set.Nodes {
		if set.Nodes[i].State == state.NodeUp {
			most = max(most, set.Nodes[i].Latency)
		}
	}
	return most
}

// searched says how far queues are known.
func searched(s *Scan, now time.Time) string {
	if s.Whole() && (s.Done == 1 || now.Sub(s.Last) < 10*time.Second) {
		return "all keys searched " + ago(s.Last, now)
	}
	text := fmt.Sprintf("%.0f%% of %s keys searched", 100*s.Done, count(s.Keys))
	if s.Whole() {
		text = fmt.Sprintf("all %s keys searched %s, again %.0f%%", count(s.Keys), ago(s.Last, now), 100*s.Done)
	}
	if s.PassTime > time.Second {
		text += ", a pass takes " + inspect.Short(s.PassTime)
	}
	return text
}

func count(n int64) string {
	switch {
	case n >= 10_000_000:
		return fmt.Sprintf("%dM", n/1_000_000)
	case n >= 1_000_000:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	case n >= 10_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprint(n)
}
