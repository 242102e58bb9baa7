//go:build linux

package worker

import (
	"context"
	"sync/atomic"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/proof/campaign/internal/history"
)

// recorder writes down what only the algorithm knows of one Acquire and its lease.
type recorder struct {
	*worker
	id         int64
	handedOver atomic.Bool
	attempts   atomic.Int64
}

func (r *recorder) trace() *lock.Trace {
	return &lock.Trace{
		AcquireEnd:  func(_ context.Context, e lock.AcquireEnd) { r.handedOver.Store(e.HandedOver) },
		AttemptEnd:  func(context.Context, lock.AttemptEnd) { r.attempts.Add(1) },
		NodeRestart: r.onNodeRestart,
		RenewEnd:    r.onRenewEnd,
	}
}

func (r *recorder) onNodeRestart(_ context.Context, e lock.NodeRestart) {
	r.events.Write(history.Event{T: history.Now(), Kind: history.Restart, Node: e.Node, Enforced: e.Enforced})
}

// onRenewEnd knows how much validity is left, but not since when: at the latest since the
// round began.
func (r *recorder) onRenewEnd(_ context.Context, e lock.RenewEnd) {
	now := history.Now()
	began := now - int64(e.Took)
	done := history.Event{
		T: now, Kind: history.Renewed, ID: r.id, Resource: e.Resource, Fence: e.Fence, Since: began,
		Outcome: string(e.Outcome),
	}
	if e.Outcome != lock.RenewLost && e.Left > 0 {
		done.Until = began + int64(e.Left)
	}
	r.events.Write(done)
}
