package nodes

import (
	"github.com/lockscope/lockscope/dashboards/gen/internal/draw"
	"github.com/lockscope/lockscope/dashboards/gen/internal/rules"
)

// A set of nodes belongs to one job and back end. Sets are not added up.
const (
	quorum = `max by ($JOB, backend) (distributed_lock_quorum_nodes{I})`
	size   = `max by ($JOB, backend) (distributed_lock_nodes{I})`
	spare  = `(` + rules.NodesUsable + `{J} - on ($JOB, backend) group_left () ` + quorum + `)`
)

// ToSpare is a tile with the usable nodes beyond the quorum, of the set with the fewest. It ignores working sets of one
// or two nodes: they have none to spare by design, and such a node may be a whole cluster.
func ToSpare(about string) draw.Panel {
	const (
		byDesign = `(` + size + ` <= on ($JOB, backend) ` + quorum + ` and on ($JOB, backend) ` + spare + ` >= 0)`
		worst    = `min(` + spare + ` unless on ($JOB, backend) ` + byDesign + `)`
		reduced  = `(` + worst + ` > 0 and on () count(` + spare + ` < on ($JOB, backend) (` + size +
			` - on ($JOB, backend) ` + quorum + `)) > 0)`
	)
	return draw.Tile("Nodes to spare", "short", 0, draw.Steps(draw.Red, draw.At(1, draw.Green)),
		[]draw.Query{{Expr: worst + ` unless on () ` + reduced, Legend: "to spare", Instant: true}},
		about+" Orange: a node is down, and the others are enough. Sets of one or two nodes count only if they have no "+
			"quorum. n/a: there are no other sets, or no recording rules.").
		Either("a node is down", reduced, draw.Orange).Otherwise("n/a")
}

func nodeSets() draw.Panel {
	return draw.Panel{Kind: draw.Table, Title: "Sets of nodes", Width: draw.Full, Height: 6, Unit: "short", Decimals: 0,
		About: "Sets of lock nodes, by job and back end. Good: all nodes usable. A PostgreSQL, etcd or ZooKeeper " +
			"system counts as one node. Sets with one name in one job are added up: name them with lock.WithBackend. " +
			"Needs the recording rules.",
		Queries: draw.Instants(size, quorum, rules.NodesUsable+"{J}", "sort("+spare+")"),
		Columns: []draw.Column{
			{Title: "Nodes", Unit: "short", Steps: draw.Neutral()},
			{Title: "Quorum", Unit: "short", Steps: draw.Neutral()},
			{Title: "Usable", Unit: "short", Steps: draw.Neutral()},
			{Title: "To spare", Unit: "short", Steps: draw.Steps(draw.Red, draw.At(0, draw.Blue), draw.At(1, draw.Green))},
		}, Hidden: []string{"__name__"},
		Order: []string{"job", "backend"},
	}
}
