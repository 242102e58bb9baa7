package driver

import (
	"context"
	"fmt"

	"github.com/lockscope/lockscope/lock/internal/workers"
)

// BlockingNode is a [Node] whose methods return with their answers. They return by the
// time their context ends, may be called concurrently, and otherwise do as those of
// Node.
type BlockingNode interface {
	Name() string
	System() string
	Acquire(ctx context.Context, req AcquireRequest) (AcquireReply, error)
	Raise(ctx context.Context, req RaiseRequest) (bool, error)
	Extend(ctx context.Context, req ExtendRequest) (ExtendReply, error)
	Release(ctx context.Context, req ReleaseRequest) (ReleaseReply, error)
	Leave(ctx context.Context, req LeaveRequest) error
	Subscribe(ctx context.Context, waiterID string, wake func(key string)) error
	Close() error
}

// Async makes a Node of a node that blocks: each call has a goroutine while it is under
// way, and Close waits for all of them.
func Async(n BlockingNode) Node { return &async{BlockingNode: n, workers: workers.New()} }

type async struct {
	BlockingNode
	workers *workers.Workers
}

func (a *async) Acquire(call Call, req *AcquireRequest, to Answer[AcquireReply]) {
	block(a, call, to, func(ctx context.Context) (AcquireReply, error) { return a.BlockingNode.Acquire(ctx, *req) })
}

func (a *async) Raise(call Call, req *RaiseRequest, to Answer[bool]) {
	block(a, call, to, func(ctx context.Context) (bool, error) { return a.BlockingNode.Raise(ctx, *req) })
}

func (a *async) Extend(call Call, req *ExtendRequest, to Answer[ExtendReply]) {
	block(a, call, to, func(ctx context.Context) (ExtendReply, error) { return a.BlockingNode.Extend(ctx, *req) })
}

func (a *async) Release(call Call, req *ReleaseRequest, to Answer[ReleaseReply]) {
	block(a, call, to, func(ctx context.Context) (ReleaseReply, error) { return a.BlockingNode.Release(ctx, *req) })
}

func (a *async) Leave(call Call, req *LeaveRequest, to Answer[bool]) {
	block(a, call, to, func(ctx context.Context) (bool, error) {
		err := a.BlockingNode.Leave(ctx, *req)
		return err == nil, err
	})
}

func (a *async) Close() error {
	a.workers.Close()
	return a.BlockingNode.Close()
}

func block[T any](a *async, call Call, to Answer[T], do func(context.Context) (T, error)) {
	started := a.workers.Run(func() {
		ctx, cancel := context.WithDeadline(context.WithoutCancel(call.Context), call.Deadline)
		defer cancel()
		to.Answer(do(ctx))
	})
	if !started {
		var none T
		to.Answer(none, fmt.Errorf("%w: %w", ErrNotSent, ErrClosed))
	}
}
