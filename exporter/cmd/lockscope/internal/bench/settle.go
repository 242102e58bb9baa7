package bench

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/pause"
	"github.com/lockscope/lockscope/lock"
)

const (
	settleTimeout = 3 * time.Second
	settlePause   = 10 * time.Millisecond
)

// underway counts the calls on one node that have no answer yet, also those of callers that have given up.
type underway struct {
	node string
	n    atomic.Int64
}

// counting returns ctx for callers whose calls count.
func (u *underway) counting(ctx context.Context) context.Context {
	return lock.WithTrace(ctx, &lock.Trace{
		NodeStart: func(ctx context.Context, e lock.NodeStart) context.Context {
			if e.Node == u.node {
				u.n.Add(1)
			}
			return ctx
		},
		NodeEnd: func(_ context.Context, e lock.NodeEnd) {
			if e.Node == u.node {
				u.n.Add(-1)
			}
		},
	})
}

// settle waits until a node has answered all calls and the keys of the callers are gone. What a node has when it begins
// to hang, it keeps: an acquire that was on the way leaves a key, and a queue that lasts for minutes. The order matters:
// between an acquire and the call that takes it back, no call is under way, but a key is there.
func (b *bench) settle(ctx context.Context, u *underway, node int) {
	ctx, cancel := context.WithTimeout(ctx, settleTimeout+b.timeout())
	defer cancel()
	for {
		if u.n.Load() == 0 {
			if n, _, err := b.keysOn(ctx, node); err != nil || n == 0 {
				return
			}
		}
		if !pause.For(ctx, settlePause) {
			return
		}
	}
}
