package asynqlock_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hibiken/asynq"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/asynqlock"
	"github.com/lockscope/lockscope/lock/locktest/noquorum"
	"github.com/lockscope/lockscope/lock/memlock"
)

var task = asynq.NewTask("charge", []byte(`{"order":"1"}`))

// handle handles a task as asynq does, with a context that has a deadline.
func handle(t *testing.T, l lock.Locker, held error, fn func(context.Context) error, opts ...lock.AcquireOption) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), asked{}, true), patience)
	defer cancel()
	handler := asynqlock.Middleware(l, asynqlock.Key, held, opts...)(asynq.HandlerFunc(
		func(ctx context.Context, _ *asynq.Task) error { return fn(ctx) }))
	return handler.ProcessTask(ctx, task)
}

type asked struct{}

// TestContext: the handler's context has what asynq put into it, and the lease.
func TestContext(t *testing.T) {
	nodes := memlock.NewNodes(3)
	l := process(t, nodes)
	must(t, handle(t, l, nil, func(ctx context.Context) error {
		if held := lock.HeldLeases(ctx); len(held) != 1 || held[0].Fence == 0 || held[0].Resource != asynqlock.Key(task) {
			t.Errorf("it holds %v", held)
		}
		if _, ok := ctx.Deadline(); !ok || ctx.Value(asked{}) != true {
			t.Error("asynq's deadline or value is missing")
		}
		return nil
	}))
	err := handle(t, l, nil, func(ctx context.Context) error {
		must(t, l.Lose(asynqlock.Key(task)))
		<-ctx.Done()
		if !errors.Is(context.Cause(ctx), lock.ErrLost) {
			t.Errorf("the context ended with %v", context.Cause(ctx))
		}
		return nil
	})
	if !errors.Is(err, lock.ErrLost) || !asynqlock.IsFailure(err) {
		t.Errorf("it was lost: %v", err)
	}
	cancelled := errors.New("cancelled")
	ctx, cancel := context.WithCancelCause(t.Context())
	handler := asynqlock.Middleware(l, asynqlock.Key, nil)(asynq.HandlerFunc(
		func(ctx context.Context, _ *asynq.Task) error {
			cancel(cancelled)
			<-ctx.Done()
			return context.Cause(ctx)
		}))
	if err := handler.ProcessTask(ctx, task); !errors.Is(err, cancelled) {
		t.Errorf("it was cancelled: %v", err)
	}
}

// TestHandlerOutlivesContext: asynq has given up the task, and its handler goes on for half an hour.
func TestHandlerOutlivesContext(t *testing.T) {
	for name, c := range map[string]struct {
		middleware func(lock.Locker) asynq.MiddlewareFunc
		overlap    bool
	}{
		"this package's middleware":       {ours, false},
		"one that hangs on asynq's (bad)": {hanging, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				nodes := memlock.NewNodes(3)
				other := process(t, nodes)
				ctx, cancel := context.WithCancel(t.Context())
				handler := c.middleware(process(t, nodes))(asynq.HandlerFunc(func(context.Context, *asynq.Task) error {
					cancel()
					<-time.After(30 * time.Minute)
					lease, err := other.Acquire(t.Context(), asynqlock.Key(task), lock.NoWait())
					if err == nil {
						must(t, lease.Release(t.Context()))
					}
					return err
				}))
				if err := handler.ProcessTask(ctx, task); c.overlap == errors.Is(err, lock.ErrHeld) {
					t.Errorf("another worker: %v", err)
				}
			})
		})
	}
}

// TestHeld: asynq retries, skips or revokes a task whose lock is held, as the caller chose.
func TestHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := memlock.NewNodes(3)
		l, other := process(t, nodes), process(t, nodes)
		lease, err := other.Acquire(t.Context(), asynqlock.Key(task))
		must(t, err)
		never := func(context.Context) error { t.Error("it ran"); return nil }
		for _, held := range []error{nil, asynq.SkipRetry, asynq.RevokeTask} {
			for _, opts := range [][]lock.AcquireOption{nil, {lock.MaxWait(time.Millisecond)}} {
				err := handle(t, l, held, never, opts...)
				if !errors.Is(err, lock.ErrHeld) || held != nil && !errors.Is(err, held) || asynqlock.IsFailure(err) {
					t.Errorf("held, %v: %v", held, err)
				}
			}
		}
		must(t, lease.Release(t.Context()))
		// What a handler fails with may look like a lock that is held: it ran.
		err = handle(t, l, asynq.SkipRetry, func(context.Context) error { return lock.ErrHeld })
		if !asynqlock.IsFailure(err) || errors.Is(err, asynq.SkipRetry) {
			t.Errorf("it ran: %v", err)
		}
		unlocked := asynqlock.Middleware(l, func(*asynq.Task) string { return "" }, nil)
		ran := asynq.HandlerFunc(func(context.Context, *asynq.Task) error { return nil })
		must(t, unlocked(ran).ProcessTask(t.Context(), task))
		if asynqlock.IsFailure(nil) {
			t.Error("nil is a failure")
		}
	})
}

// TestNoQuorum: no task is handled and no scheduler starts. asynq does with the task what it does after a failure.
func TestNoQuorum(t *testing.T) {
	noquorum.Each(t, func(t *testing.T, l *memlock.Locker) {
		never := func(context.Context) error { t.Error("it ran"); return nil }
		for _, opt := range []lock.AcquireOption{nil, lock.MaxWait(time.Second)} {
			err := handle(t, l, asynq.RevokeTask, never, opt)
			if !errors.Is(err, lock.ErrNoQuorum) || errors.Is(err, asynq.RevokeTask) || !asynqlock.IsFailure(err) {
				t.Errorf("the task: %v", err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := asynqlock.RunScheduler(ctx, l, "scheduler", func() (*asynq.Scheduler, error) {
			return nil, errors.New("it started")
		}); !errors.Is(err, lock.ErrNoQuorum) {
			t.Errorf("the scheduler: %v", err)
		}
	})
}
