package redisconn

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Processor sends commands, as go-redis' clients do.
type Processor interface {
	Process(ctx context.Context, cmd redis.Cmder) error
}

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

// Eval runs scripts that may write.
func Eval() EvalCommand { return EvalCommand{"evalsha", "eval"} }

// EvalReadOnly runs scripts that only read. Redis has it from version 7 on, and sees to
// it that nothing is written.
func EvalReadOnly() EvalCommand { return EvalCommand{"evalsha_ro", "eval_ro"} }

// Args are the arguments of [Script.Run] for these keys, after their number, and values.
func Args(rest ...any) []any { return append([]any{nil, nil}, rest...) }

// Run calls the script by its hash, and by its source where the server does not have
// it: after a restart, a failover or SCRIPT FLUSH. args starts with two empty places for
// the command and the script, see [Args]. The error is the server's, see [IsReply], or that of the connection or of
// ctx.
func (s *Script) Run(ctx context.Context, c Processor, with EvalCommand, args []any) (any, error) {
	args[0], args[1] = with.ByHash, s.Hash
	cmd := redis.NewCmd(ctx, args...)
	err := c.Process(ctx, cmd)
	if IsUnknownScript(err) {
		args[0], args[1] = with.BySource, s.Source
		cmd = redis.NewCmd(ctx, args...)
		err = c.Process(ctx, cmd)
	}
	if err != nil {
		return nil, err
	}
	return cmd.Val(), nil
}
