package server

import (
	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/redlock/redisconn"
)

// EvalCommands are those that run scripts, in order of preference: the first, of
// Redis 7, makes the server see to it that nothing is written.
func EvalCommands() []redisconn.EvalCommand {
	return []redisconn.EvalCommand{redisconn.EvalReadOnly(), redisconn.Eval()}
}

// IsRefused says that the server has no such command, or not for this user. What a script
// may not do is another matter: plain commands may do no more.
func IsRefused(err error) bool {
	return redisconn.IsUnknownCommand(err) || redis.HasErrorPrefix(err, "NOPERM")
}
