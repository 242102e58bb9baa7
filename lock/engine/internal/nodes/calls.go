package nodes

import (
	"sync/atomic"

	"github.com/lockscope/lockscope/lock/engine/internal/callqueue"
)

// Calls keep the calls about one resource on each node in order.
type Calls struct {
	Key    string
	On     []callqueue.Queue // one a node
	Hedged atomic.Bool       // the gate was slower than usual, and has not answered since
}

// OneEach has room for n nodes: in own, which is part of something that is allocated anyway, if that is enough.
func OneEach[T any](own []T, n int) []T {
	if n <= len(own) {
		return own[:n]
	}
	return make([]T, n)
}

// Contender is who contends for the lock in this process, if anybody does.
type Contender interface {
	GrantWasted() // the gate has taken back a grant of a failed attempt
}
