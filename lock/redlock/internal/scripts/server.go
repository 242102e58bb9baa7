package scripts

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/redlock/guard"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
)

// reader asks a server who it is.
type reader struct{ redisconn.Processor }

// Info is the reply to INFO. It asks for every section there is by default: a section to
// choose is not reported by every server, and the sections that are needed are four.
func (r reader) Info(ctx context.Context) (string, error) {
	cmd := redis.NewStringCmd(ctx, "info")
	if err := r.Process(ctx, cmd); err != nil {
		return "", err
	}
	return cmd.Val(), nil
}

// Marker is the value of guard.MarkerKey, "" if there is none.
func (r reader) Marker(ctx context.Context) (string, error) {
	cmd := redis.NewStringCmd(ctx, "get", guard.MarkerKey)
	if err := r.Process(ctx, cmd); err != nil && !errors.Is(err, redis.Nil) {
		return "", err
	}
	return cmd.Val(), nil
}

// Server is what the guard asks a node's server: over one new connection, or over any of
// the node's.
type Server struct {
	reader
	scripts *Set
	sight   func() guard.Sight
}

var _ guard.Server = Server{}

// Server is behind this connection, or pool of them. sight is that of the connection which
// carries what is asked.
func (s *Set) Server(process redisconn.Processor, sight func() guard.Sight) Server {
	return Server{reader: reader{process}, scripts: s, sight: sight}
}

// Ask runs quarantine.lua.
func (s Server) Ask(ctx context.Context, a guard.Ask) (guard.Answer, error) {
	args := append([]any{nil, nil, 1, guard.MarkerKey}, s.sight().QuarantineArgs(a, time.Now())...)
	reply, err := s.scripts.quarantine.Run(ctx, s.reader, redisconn.Eval(), args)
	if err != nil {
		return guard.Answer{}, Classify(err)
	}
	return parseQuarantine(reply)
}
