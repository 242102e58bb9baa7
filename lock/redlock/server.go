package redlock

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/redlock/guard"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
)

// server is what the guard asks a node's server: over one new connection, or
// over any of the node's.
type server struct {
	process redisconn.Processor
	scripts *scripts
	sight   func() guard.Sight // of the connection that carries what is asked
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

func (s server) Marker(ctx context.Context) (string, error) {
	cmd := redis.NewStringCmd(ctx, "get", guard.MarkerKey)
	if err := s.process.Process(ctx, cmd); err != nil && !errors.Is(err, redis.Nil) {
		return "", err
	}
	return cmd.Val(), nil
}

func (s server) Ask(ctx context.Context, a guard.Ask) (guard.Answer, error) {
	args := append([]any{nil, nil, 1, guard.MarkerKey}, s.sight().QuarantineArgs(a, time.Now())...)
	reply, err := s.scripts.quarantine.Run(ctx, s.process, redisconn.Eval(), args)
	if err != nil {
		return guard.Answer{}, classify(err)
	}
	return parseQuarantine(reply)
}

// examiner makes the guard look at each new connection of a client.
func examiner(g *guard.Guard) redisconn.OnConnect {
	return func(ctx context.Context, cn *redis.Conn) error {
		_, err := g.Examine(ctx, server{process: cn})
		return err
	}
}
