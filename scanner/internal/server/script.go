package server

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Script is a Lua script and the hash Redis caches it under.
type Script struct{ Source, Hash string }

// NewScript makes one script of its parts.
func NewScript(parts ...string) *Script {
	source := strings.Join(parts, "")
	sum := sha1.Sum([]byte(source))
	return &Script{Source: source, Hash: hex.EncodeToString(sum[:])}
}

// EvalCommand is a pair of commands that runs scripts.
type EvalCommand struct{ ByHash, BySource string }

// EvalCommands in order of preference: the first, of Redis 7, makes the server see
// to it that nothing is written.
func EvalCommands() []EvalCommand {
	return []EvalCommand{{"evalsha_ro", "eval_ro"}, {"evalsha", "eval"}}
}

// Processor sends commands, as go-redis' clients do.
type Processor interface {
	Process(ctx context.Context, cmd redis.Cmder) error
}

// Run calls the script by its hash, and by its source where the server does not
// have it. rest is the number of keys, the keys and the arguments. The error is the
// server's, see [IsReply], or that of the connection or of ctx.
func (s *Script) Run(ctx context.Context, c Processor, eval EvalCommand, rest ...any) (any, error) {
	cmd := redis.NewCmd(ctx, append([]any{eval.ByHash, s.Hash}, rest...)...)
	err := c.Process(ctx, cmd)
	if IsUnknownScript(err) {
		cmd = redis.NewCmd(ctx, append([]any{eval.BySource, s.Source}, rest...)...)
		err = c.Process(ctx, cmd)
	}
	if err != nil {
		return nil, err
	}
	return cmd.Val(), nil
}

// IsUnknownScript says that the server has no script of that hash: nothing was done.
func IsUnknownScript(err error) bool { return err != nil && redis.HasErrorPrefix(err, "NOSCRIPT") }

// IsRefused says that the server has no such command, or not for this user.
func IsRefused(err error) bool {
	text := err.Error()
	return strings.HasPrefix(text, "NOPERM") || strings.Contains(text, "unknown command")
}
