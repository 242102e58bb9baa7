package driver

import "context"

// Warmer is a [Node] that can be made ready for its first vote: to connect may take longer
// than a node may take to answer. A node need not be one.
type Warmer interface {
	// Warm returns once a call needs no new connection, or when none can be made, by the
	// end of ctx at the latest. The engine calls it once, before the first vote, and the
	// vote tells whatever was wrong.
	Warm(ctx context.Context) error
}
