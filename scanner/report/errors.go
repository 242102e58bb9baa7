package report

import (
	"fmt"
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
