package timeline

import (
	"slices"
	"time"
)

// maxRestarts is how many restarts of nodes are kept.
const maxRestarts = 64

// Restart is a node that may have forgotten locks.
type Restart struct {
	At            time.Duration // when it was detected, since the Base
	Backend, Node string
	Enforced      bool          // the node does not vote
	Evicted       bool          // the node evicted keys; it did not restart
	Left          time.Duration // how long forgotten locks could still be valid
}

// Restarted records a restart, whether or not a resource is recorded: restarts are rare.
func (r *Recorder) Restarted(now time.Time, of Restart) {
	of.At = now.Sub(r.base)
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.restarts) >= maxRestarts {
		r.restarts = slices.Delete(r.restarts, 0, 1)
	}
	r.restarts = append(r.restarts, of)
}

// Restarts returns the restarts after a time that concern a set of nodes.
func (r *Recorder) Restarts(backend string, after time.Time) (all []Restart) {
	since := after.Sub(r.base)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, known := range r.restarts {
		if known.Backend == backend && known.At >= since {
			all = append(all, known)
		}
	}
	return all
}
