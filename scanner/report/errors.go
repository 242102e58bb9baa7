package report

import (
	"errors"
	"fmt"
)

// Causes of a [NodeError].
var (
	// ErrDeadline reports that a sweep or a listing reached its deadline. Commands that the deadline cuts off have it
	// as the cause of their context.
	ErrDeadline = errors.New("scanner: sweep deadline exceeded")
	// ErrNotMaster reports a node that is a replica of a Redis Cluster, which serves no keys.
	ErrNotMaster = errors.New("it is a replica of a Redis Cluster and serves no keys: " +
		"give the cluster as a whole (--cluster)")
	// ErrNotReplica reports that a server given to scanner.WithReplicas does not replicate its node.
	ErrNotReplica = errors.New("the replica does not follow this node, or was never in sync with it: " +
		"give each node a replica of its own")
)

// NodeError says why a node was not swept to its end. It never has a password, a lock's value or a key.
type NodeError struct {
	Node string // as in [NodeReport]
	Op   string // what was asked of it: "find masters", "read page", "second look"
	Err  error
}

func (e *NodeError) Error() string {
	return fmt.Sprintf("scanner: node %s: %s: %v", e.Node, e.Op, e.Err)
}

// Unwrap returns the node's own error.
func (e *NodeError) Unwrap() error { return e.Err }
