package lease

import (
	"context"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/internal/hooks"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
	"github.com/lockscope/lockscope/lock/engine/internal/queue"
)

// Request is what a call of Acquire asks for, and where it comes from.
type Request struct {
	Traces   hooks.Traces
	Resource string
	Opts     lock.AcquireOptions
	Queue    *queue.Queue // of the lease
	HasTurn  bool         // in Queue, for the lease to keep or to pass on
	Origin   nodes.Origin

	Parent context.Context // of the lease
	Traced context.Context // parent with what the traces of the Acquire put into it
}
