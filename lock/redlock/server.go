package redlock

import (
	"context"
	"errors"

	"github.com/lockscope/lockscope/lock/redlock/redisconn"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/redlock/guard"
)

// server is what the guard asks a node's server: over one new connection, or
// over any of the node's.
type server struct {
	process interface {
		Process(ctx context.Context, cmd redis.Cmder) error
	}
}

// Info asks for every section there is by default: a section to choose is not told
// by every server, and the sections that are needed are four.
func (s server) Info(ctx context.Context) (string, error) {
	cmd := redis.NewStringCmd(ctx, "info")
	if err := s.process.Process(ctx, cmd); err != nil {
		return "", err
	}
	return cmd.Val(), nil
}

func (s server) Life(ctx context.Context) (string, error) {
	cmd := redis.NewStringCmd(ctx, "get", guard.LifeKey)
	if err := s.process.Process(ctx, cmd); err != nil && !errors.Is(err, redis.Nil) {
		return "", err
	}
	return cmd.Val(), nil
}

// examiner makes the guard look at each new connection of a client.
func examiner(g *guard.Guard) redisconn.OnConnect {
	return func(ctx context.Context, cn *redis.Conn) error { return g.Examine(ctx, server{cn}) }
}
