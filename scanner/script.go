package scanner

import (
	"context"
	"crypto/sha1"
	_ "embed" // the scripts
	"encoding/hex"

	"github.com/redis/go-redis/v9"
)

//go:embed describe.lua
var describeLua string

//go:embed page.lua
var pageLua string

//go:embed look.lua
var lookLua string

// script is a Lua script and the hash Redis caches it under.
type script struct{ source, hash string }

func newScript(parts ...string) *script {
	var source string
	for _, p := range parts {
		source += p
	}
	sum := sha1.Sum([]byte(source))
	return &script{source: source, hash: hex.EncodeToString(sum[:])}
}

type scripts struct{ page, look *script }

func newScripts() *scripts {
	return &scripts{page: newScript(describeLua, pageLua), look: newScript(describeLua, lookLua)}
}

// evalCommand is a pair of commands that runs scripts.
type evalCommand struct{ byHash, bySource string }

// evalCommands in order of preference: the first, of Redis 7, makes the server see
// to it that nothing is written.
func evalCommands() []evalCommand {
	return []evalCommand{{"evalsha_ro", "eval_ro"}, {"evalsha", "eval"}}
}

type processor interface {
	Process(ctx context.Context, cmd redis.Cmder) error
}

// run calls the script by its hash, and by its source where the server does not
// have it. rest is the number of keys, the keys and the arguments.
func (s *script) run(ctx context.Context, c processor, eval evalCommand, rest ...any) (any, error) {
	cmd := redis.NewCmd(ctx, append([]any{eval.byHash, s.hash}, rest...)...)
	err := c.Process(ctx, cmd)
	if err != nil && redis.HasErrorPrefix(err, "NOSCRIPT") {
		cmd = redis.NewCmd(ctx, append([]any{eval.bySource, s.source}, rest...)...)
		err = c.Process(ctx, cmd)
	}
	if err != nil {
		return nil, err
	}
	return cmd.Val(), nil
}
