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

// Script is a Lua script and the hash under which Redis caches it.
type Script struct {
	Source, Hash string

	hash any
}

// Arg is the hash as an argument of a command.
func (s *Script) Arg() any { return s.hash }

// NewScript returns the script that the parts form together.
func NewScript(parts ...string) *Script {
	source := strings.Join(parts, "")
	sum := sha1.Sum([]byte(source))
	hash := hex.EncodeToString(sum[:])
	return &Script{Source: source, Hash: hash, hash: hash}
}

// EvalCommand is a pair of commands that runs scripts.
type EvalCommand struct{ ByHash, BySource string }

// Eval runs scripts that may write.
func Eval() EvalCommand { return EvalCommand{"evalsha", "eval"} }

// EvalReadOnly runs scripts that only read. Redis 7 and later have it, and enforce it.
func EvalReadOnly() EvalCommand { return EvalCommand{"evalsha_ro", "eval_ro"} }

// Args returns the arguments for [Script.Run]. rest is the number of keys, the keys, and the values.
func Args(rest ...any) []any { return append([]any{nil, nil}, rest...) }

// Run calls the script by its hash. If the server does not have it, as after a restart, a failover or
// SCRIPT FLUSH, Run calls it by its source. Make args with [Args]: Run writes the command and the script
// into its first two elements. The error is the server's (see [IsReply]), the connection's, or that
// of ctx.
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
