package redlock

import (
	"context"
	"crypto/sha1"
	_ "embed" // the scripts
	"encoding/hex"
	"strings"

	"github.com/redis/go-redis/v9"
)

//go:embed handoff.lua
var handoffLua string

//go:embed acquire.lua
var acquireLua string

//go:embed raise.lua
var raiseLua string

//go:embed extend.lua
var extendLua string

//go:embed release.lua
var releaseLua string

//go:embed leave.lua
var leaveLua string

// script is a Lua script and the hash Redis caches it under.
type script struct{ source, hash string }

func newScript(parts ...string) *script {
	source := strings.Join(parts, "")
	sum := sha1.Sum([]byte(source))
	return &script{source: source, hash: hex.EncodeToString(sum[:])}
}

// scripts are what a node runs.
type scripts struct{ acquire, raise, extend, release, leave *script }

func newScripts() *scripts {
	return &scripts{
		acquire: newScript(handoffLua, acquireLua),
		raise:   newScript(raiseLua),
		extend:  newScript(extendLua),
		release: newScript(handoffLua, releaseLua),
		leave:   newScript(handoffLua, leaveLua),
	}
}

// run calls the script by its hash, and by its source where the node has lost
// it: after a restart, a failover or SCRIPT FLUSH. args starts with two empty
// places for the command and the script, then the number of keys.
func (s *script) run(ctx context.Context, c client, args []any) (any, error) {
	args[0], args[1] = "evalsha", s.hash
	cmd := redis.NewCmd(ctx, args...)
	err := c.Process(ctx, cmd)
	if err != nil && redis.HasErrorPrefix(err, "NOSCRIPT") {
		args[0], args[1] = "eval", s.source
		cmd = redis.NewCmd(ctx, args...)
		err = c.Process(ctx, cmd)
	}
	if err != nil {
		return nil, err
	}
	return cmd.Val(), nil
}
