package attempt

import (
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
)

// maxBar is shorter than what nodes take for a mistake: see rwshared.lua.
const maxBar = 12 * time.Hour

// Bar is how long a node that refuses the caller keeps later readers out; 0 if it does not.
func Bar(e *nodes.Set, o *lock.AcquireOptions) time.Duration {
	if o.NoWait || o.Mode != lock.ModeWrite {
		return 0
	}
	return min(max(o.TTL, 4*e.Config.PollInterval), maxBar)
}

// Barred is the set of nodes on which the attempt may have set up a bar: it was not granted there.
func (a *Attempt) Barred() (set uint64) {
	if a.Req.Bar == 0 {
		return 0
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.ballot.Asked &^ a.ballot.Granted
}
