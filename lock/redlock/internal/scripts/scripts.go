// Package scripts has what lockscope sends to a Redis server: the Lua scripts, the keys and
// arguments they take, and how their replies and the server's errors are read. It sends
// nothing by itself: packages lanes and cluster do.
package scripts

import (
	_ "embed" // the scripts

	"github.com/lockscope/lockscope/lock/redlock/redisconn"
)

//go:embed handoff.lua
var handoffLua string

//go:embed marker.lua
var markerLua string

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

// Set is what the nodes of an engine have in common: the scripts, and the keys of locks.
type Set struct {
	Acquire, Raise, Extend, Release, Leave, Peek, Revoke *redisconn.Script
	quarantine                                           *redisconn.Script
	sharing                                              sharing
	slots                                                slotScripts
	keys                                                 *keyCache
}

// New is the set for one engine.
func New() *Set {
	return &Set{
		Acquire:    redisconn.NewScript(markerLua, acquireLua, handoffLua, refuseLua),
		Raise:      redisconn.NewScript(raiseLua),
		Extend:     redisconn.NewScript(markerLua, extendLua),
		Release:    redisconn.NewScript(releaseLua, handoffLua, nameNextLua),
		Leave:      redisconn.NewScript(handoffLua, leaveLua),
		Peek:       redisconn.NewScript(peekLua),
		Revoke:     redisconn.NewScript(markerLua, revokeLua),
		quarantine: redisconn.NewScript(quarantineLua),
		sharing:    newSharing(),
		slots:      newSlotScripts(),
		keys:       newKeyCache(),
	}
}
