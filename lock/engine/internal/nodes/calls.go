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

// Contender is who contends for the lock in this process, if anybody does.
type Contender interface {
	GrantWasted() // the gate has taken back a grant of a failed attempt
}
