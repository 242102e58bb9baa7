package redlock_test

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
)

// heeding is a hook of the caller's client that sends nothing once the context has ended, as a rate limiter does.
type heeding struct{}

func (heeding) DialHook(next redis.DialHook) redis.DialHook { return next }

func (heeding) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if err := ctx.Err(); err != nil {
			cmd.SetErr(err)
			return err
		}
		return next(ctx, cmd)
	}
}

func (heeding) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// TestRealReleaseThroughAHookThatHeedsContexts: a cancelled request still releases its lock.
func TestRealReleaseThroughAHookThatHeedsContexts(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 1)
	clients := f.clients()
	clients[0].AddHook(heeding{})
	l := newLocker(t, clients)
	ctx, cancel := context.WithCancel(t.Context())
	lease, err := l.Acquire(ctx, "job", lock.TTL(longTTL))
	must(t, err)
	cancel()
	_ = lease.Release(ctx) // the outcome may be unknown
	f.wantNoLocks()
}
