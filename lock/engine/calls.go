package engine

import (
	"sync/atomic"

	"github.com/lockscope/lockscope/lock/engine/internal/callqueue"
)

// nodeQueues keep the calls about one resource on each node in order.
type nodeQueues struct {
	key       string
	calls     []callqueue.Queue // one a node
	hedged    atomic.Bool       // the gate was slower than usual, and has not answered since
	contender contending
}

// contending is who contends for the lock in this process, if anybody does.
type contending interface {
	grantWasted() // the gate has taken back a grant of a failed attempt
}
