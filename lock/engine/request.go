package engine

import (
	"context"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/internal/hooks"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
)

// Request is what a call of Acquire asks for, and where it comes from.
type Request struct {
	ts       hooks.Traces
	resource string
	opts     lock.AcquireOptions
	queue    *resourceQueue
	origin   nodes.Origin

	parent context.Context // of the lease
	traced context.Context // parent with what the traces of the Acquire put into it
}
