//go:build linux

package judge

import (
	"github.com/lockscope/lockscope/lock/proof/campaign/internal/history"
	"github.com/lockscope/lockscope/lock/proof/campaign/internal/ledger"
)

// ledger: what was accepted is in the order of fences, loses no update, and was written
// under a lease that was valid when it was sent.
func (c *court) ledger() {
	leases := make(map[string]map[int64]*Lease)
	for _, l := range c.leases {
		if leases[l.Worker.Name] == nil {
			leases[l.Worker.Name] = make(map[int64]*Lease)
		}
		leases[l.Worker.Name][l.ID] = l
	}
	latest := make(map[string]ledger.Entry)
	for _, e := range c.evidence.Entries {
		last, any := latest[e.Resource]
		if any && e.Fence < last.Fence {
			c.find(Ledger, e.Resource, e.T, "a write with fence %d of %s was accepted after one with %d of %s", e.Fence,
				e.Worker, last.Fence, last.Worker)
		}
		if e.Version != last.Version+1 {
			c.find(Ledger, e.Resource, e.T,
				"lost update: %s, fence %d, wrote version %d over version %d of %s, fence %d",
				e.Worker, e.Fence, e.Version, last.Version, last.Worker, last.Fence)
		}
		latest[e.Resource] = e
		c.written(e, leases[e.Worker][e.ID])
	}
}

// written finds the event that goes with an entry.
func (c *court) written(e ledger.Entry, l *Lease) {
	if l == nil || l.Resource != e.Resource || l.Fence != e.Fence {
		c.find(Ledger, e.Resource, e.T, "%s wrote with fence %d, and had no such lease", e.Worker, e.Fence)
		return
	}
	for _, w := range l.writes {
		if w.Version+1 == e.Version && w.T <= e.T {
			return
		}
	}
	c.find(Ledger, e.Resource, e.T, "%v wrote version %d, and has not told of it", l, e.Version)
}

// answers are the writes of a worker of which it got to know how they ended, by lease and
// by the instant at which they were sent.
func (w *Worker) answers() map[int64][]history.Event {
	all := make(map[int64][]history.Event)
	for _, e := range w.Events {
		if e.Kind == history.Written {
			all[e.ID] = append(all[e.ID], e)
		}
	}
	return all
}
