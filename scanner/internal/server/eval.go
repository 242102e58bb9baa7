package server

import (
	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/redlock/redisconn"
)

// EvalCommands returns the commands that run scripts, in order of preference. The first, of Redis 7, makes the server
// prevent writes.
func EvalCommands() []redisconn.EvalCommand {
	return []redisconn.EvalCommand{redisconn.EvalReadOnly(), redisconn.Eval()}
}

// IsRefused reports whether the server lacks the command, or refuses it to this user. It does not cover what a script
// may not do, because plain commands may do no more.
func IsRefused(err error) bool {
	return redisconn.IsUnknownCommand(err) || redis.HasErrorPrefix(err, "NOPERM")
}
