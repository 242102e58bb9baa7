//go:build linux

package worker

import (
	"context"
	"sync/atomic"

	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/lock/proof/campaign/internal/history"
)

// recorder writes down what only the algorithm knows of one Acquire and its lease.
type recorder struct {
	*worker
	id         int64
	handedOver atomic.Bool
	attempts   atomic.Int64
}

func (r *recorder) trace() *locktrace.Trace {
	return &locktrace.Trace{
		AcquireEnd:  func(_ context.Context, e locktrace.AcquireEnd) { r.handedOver.Store(e.HandedOver) },
		AttemptEnd:  func(context.Context, locktrace.AttemptEnd) { r.attempts.Add(1) },
		NodeRestart: r.onNodeRestart,
		RenewEnd:    r.onRenewEnd,
	}
}

func (r *recorder) onNodeRestart(_ context.Context, e locktrace.NodeRestart) {
	r.events.Write(history.Event{T: history.Now(), Kind: history.Restart, Node: e.Node, Enforced: e.Enforced})
}

// onRenewEnd knows how much validity is left, but not since when: at the latest since the
// round began.
func (r *recorder) onRenewEnd(_ context.Context, e locktrace.RenewEnd) {
	now := history.Now()
	began := now - int64(e.Took)
	done := history.Event{
		T: now, Kind: history.Renewed, ID: r.id, Resource: e.Resource, Fence: e.Fence, Since: began,
		Outcome: string(e.Outcome),
	}
	if e.Outcome != locktrace.RenewLost && e.Left > 0 {
		done.Until = began + int64(e.Left)
	}
	r.events.Write(done)
}
