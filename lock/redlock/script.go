package redlock

import (
	_ "embed" // the scripts

	"github.com/lockscope/lockscope/lock/redlock/redisconn"
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

//go:embed refuse.lua
var refuseLua string

//go:embed namenext.lua
var nameNextLua string

//go:embed quarantine.lua
var quarantineLua string

//go:embed mark.lua
var markLua string

//go:embed replace.lua
var replaceLua string

// scripts are what a node runs.
type scripts struct{ acquire, raise, extend, release, leave, quarantine *redisconn.Script }

func newScripts() *scripts {
	return &scripts{
		acquire:    redisconn.NewScript(acquireLua, handoffLua, refuseLua),
		raise:      redisconn.NewScript(raiseLua),
		extend:     redisconn.NewScript(extendLua),
		release:    redisconn.NewScript(releaseLua, handoffLua, nameNextLua),
		leave:      redisconn.NewScript(handoffLua, leaveLua),
		quarantine: redisconn.NewScript(quarantineLua),
	}
}
