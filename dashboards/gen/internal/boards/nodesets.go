package boards

import "github.com/lockscope/lockscope/dashboards/gen/internal/rules"

// A set of nodes belongs to one job and back end. Sets are not added up.
const (
	quorum = `max by ($JOB, backend) (distributed_lock_quorum_nodes{I})`
	size   = `max by ($JOB, backend) (distributed_lock_nodes{I})`
	spare  = `(` + rules.NodesUsable + `{J} - on ($JOB, backend) group_left () ` + quorum + `)`
)

// nodesToSpare ignores working sets of one or two nodes: they have none to spare by design, and such a node
// may be a whole cluster.
func nodesToSpare(about string) panel {
	const (
		byDesign = `(` + size + ` <= on ($JOB, backend) ` + quorum + ` and on ($JOB, backend) ` + spare + ` >= 0)`
		worst    = `min(` + spare + ` unless on ($JOB, backend) ` + byDesign + `)`
		reduced  = `(` + worst + ` > 0 and on () count(` + spare + ` < on ($JOB, backend) (` + size +
			` - on ($JOB, backend) ` + quorum + `)) > 0)`
	)
	return tile("Nodes to spare", "short", 0, steps(red, at(1, green)),
		[]query{{expr: worst + ` unless on () ` + reduced, legend: "to spare", instant: true}},
		about+" Orange: a node is down, and the others are enough. Sets of one or two nodes count only if they have no "+
			"quorum. n/a: there are no other sets, or no recording rules.").
		either("a node is down", reduced, orange).otherwise("n/a")
}

// nodeSets is a table of all sets.
func nodeSets() panel {
	return panel{kind: grid, title: "Sets of nodes", w: full, h: 6, unit: "short", decimals: 0,
		about: "Sets of lock nodes, by job and back end. Good: all nodes usable. A PostgreSQL, etcd or ZooKeeper " +
			"system counts as one node. Sets with one name in one job are added up: name them with lock.WithBackend. " +
			"Needs the recording rules.",
		queries: instants(size, quorum, rules.NodesUsable+"{J}", "sort("+spare+")"),
		columns: []column{
			{title: "Nodes", unit: "short", steps: neutral()},
			{title: "Quorum", unit: "short", steps: neutral()},
			{title: "Usable", unit: "short", steps: neutral()},
			{title: "To spare", unit: "short", steps: steps(red, at(0, blue), at(1, green))},
		}, hidden: []string{"__name__"},
		order: []string{"job", "backend"},
	}
}
