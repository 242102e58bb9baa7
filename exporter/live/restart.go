package live

import (
	"time"

	"github.com/lockscope/lockscope/lock"
)

// restart is the last one that a node was seen to have.
type restart struct {
	at time.Time // when it was noticed
	lock.NodeRestart
}

// tell is nil once no lock from before can be valid.
func (r *restart) tell(now time.Time) *Restart {
	if r == nil {
		return nil
	}
	ago := max(now.Sub(r.at), 0)
	if ago >= r.Left {
		return nil
	}
	return &Restart{Noticed: ago.Seconds(), Witnessed: r.Witnessed, Left: (r.Left - ago).Seconds(), Enforced: r.Enforced}
}

func (n *nodes) restarted(now time.Time, e lock.NodeRestart) {
	node := n.named(nodeName{e.Backend.Name, e.Node})
	if node == nil {
		return
	}
	e.Node, e.Backend = "", lock.Backend{} // the names are kept once
	node.mu.Lock()
	defer node.mu.Unlock()
	node.restart = &restart{now, e}
}

// voted forgets that the node was to keep silent: somebody has vouched for it.
// mu must be held.
func (n *node) voted(e lock.NodeEnd) {
	if n.restart != nil && n.restart.Enforced && e.Op == lock.OpAcquire && e.Verdict == lock.VerdictGranted {
		n.restart = nil
	}
}
