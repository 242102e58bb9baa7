package driver

import "context"

// Warmer is an optional interface of a [Node] that connects before its first vote, since
// connecting may take longer than the node timeout.
type Warmer interface {
	// Warm returns once a call needs no new connection, when connecting has failed, or
	// when ctx ends. The engine calls it once, before the first vote. If connecting
	// failed, that vote reports why.
	Warm(ctx context.Context) error
}
