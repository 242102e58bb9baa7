package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/workers"
)

// Async makes a Node of a node that blocks. Each call has a goroutine while it is under way: its
// caller's, if the caller only waits for the answer, or one of its own. Close waits for all calls.
func Async(n driver.BlockingNode) driver.Node {
	return &async{BlockingNode: n, workers: workers.New()}
}

type async struct {
	driver.BlockingNode
	workers *workers.Workers
}

func (a *async) Acquire(call driver.Call, req *driver.AcquireRequest, to driver.Answer[driver.AcquireReply]) {
	block(a, call, to, func(ctx context.Context) (driver.AcquireReply,
		error) {
		return a.BlockingNode.Acquire(ctx, *req)
	})
}

func (a *async) Raise(call driver.Call, req *driver.RaiseRequest, to driver.Answer[bool]) {
	block(a, call, to, func(ctx context.Context) (bool, error) { return a.BlockingNode.Raise(ctx, *req) })
}

func (a *async) Extend(call driver.Call, req *driver.ExtendRequest, to driver.Answer[driver.ExtendReply]) {
	block(a, call, to, func(ctx context.Context) (driver.ExtendReply,
		error) {
		return a.BlockingNode.Extend(ctx, *req)
	})
}

func (a *async) Release(call driver.Call, req *driver.ReleaseRequest, to driver.Answer[driver.ReleaseReply]) {
	block(a, call, to, func(ctx context.Context) (driver.ReleaseReply,
		error) {
		return a.BlockingNode.Release(ctx, *req)
	})
}

func (a *async) Leave(call driver.Call, req *driver.LeaveRequest, to driver.Answer[bool]) {
	block(a, call, to, func(ctx context.Context) (bool, error) {
		err := a.BlockingNode.Leave(ctx, *req)
		return err == nil, err
	})
}

func (a *async) Peek(call driver.Call, req *driver.PeekRequest, to driver.Answer[driver.PeekReply]) {
	block(a, call, to, func(ctx context.Context) (driver.PeekReply, error) { return a.BlockingNode.Peek(ctx, *req) })
}

func (a *async) Revoke(call driver.Call, req *driver.RevokeRequest, to driver.Answer[driver.RevokeReply]) {
	block(a, call, to, func(ctx context.Context) (driver.RevokeReply,
		error) {
		return a.BlockingNode.Revoke(ctx, *req)
	})
}

func (a *async) Resize(call driver.Call, req *driver.ResizeRequest, to driver.Answer[driver.ResizeReply]) {
	block(a, call, to, func(ctx context.Context) (driver.ResizeReply,
		error) {
		return a.BlockingNode.Resize(ctx, *req)
	})
}

func (a *async) Close() error {
	a.workers.Close()
	return a.BlockingNode.Close()
}

func block[T any](a *async, call driver.Call, to driver.Answer[T], do func(context.Context) (T, error)) {
	run := a.workers.Run
	if call.Wait != nil {
		run = a.workers.Lend
	}
	if !run(func() { to.Answer(bounded(call, do)) }) {
		var none T
		to.Answer(none, fmt.Errorf("%w: %w", driver.ErrNotSent, driver.ErrClosed))
	}
}

// bounded ends the call at its deadline, or when a caller that lends its goroutine stops waiting.
// The outcome of the command is unknown then.
func bounded[T any](call driver.Call, do func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithDeadline(context.WithoutCancel(call.Context), call.Deadline)
	defer cancel()
	if call.Wait == nil {
		return do(ctx)
	}
	waits := context.AfterFunc(call.Wait, cancel)
	answer, err := do(ctx)
	switch unheard := !waits() && err != nil; {
	case unheard && !errors.Is(err, driver.ErrNotSent):
		err = fmt.Errorf("%w (%v)", driver.ErrUnheard, err)
	case unheard && errors.Is(err, context.Canceled): // cut off in what comes before the command
		err = fmt.Errorf("%w: %w (%v)", driver.ErrNotSent, driver.ErrUnheard, err)
	}
	return answer, err
}
