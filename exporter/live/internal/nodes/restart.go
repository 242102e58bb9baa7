package nodes

import (
	"time"

	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// restart is the last detected restart of a node, or its last eviction of keys.
type restart struct {
	at time.Time // when it was detected
	locktrace.NodeRestart
}

// tell returns nil once no earlier lock can be valid.
func (r *restart) tell(now time.Time) *state.Restart {
	if r == nil {
		return nil
	}
	ago := max(now.Sub(r.at), 0)
	if ago >= r.Left {
		return nil
	}
	return &state.Restart{
		Noticed: ago.Seconds(), Evicted: r.Evicted, Witnessed: r.Witnessed, Left: (r.Left - ago).Seconds(),
		Enforced: r.Enforced,
	}
}
