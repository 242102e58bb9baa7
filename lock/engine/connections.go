package engine

import (
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// NodeConnections describes the engine's connections to one of its nodes.
type NodeConnections struct {
	Node    string
	Backend locktrace.Backend
	driver.Connections
}

// Connections returns a snapshot of the connections to each node, in the order of the nodes. It omits
// nodes whose drivers do not report connections: nodes in memory have none, and a Redis Cluster uses
// go-redis' pools. It asks no server, may be called concurrently, and works after Close.
func (e *Engine) Connections() []NodeConnections {
	all := make([]NodeConnections, 0, len(e.Nodes))
	for _, n := range e.Nodes {
		if c, ok := n.Node.(driver.Connected); ok {
			all = append(all, NodeConnections{Node: n.Name(), Backend: e.Backend, Connections: c.Connections()})
		}
	}
	return all
}
