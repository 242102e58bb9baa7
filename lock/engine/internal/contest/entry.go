package contest

import (
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/internal/deadlock"
	"github.com/lockscope/lockscope/lock/engine/records"
)

// publishAfter is how long a call waits before its entry in the queue describes it: short waits
// need not pay for that.
const publishAfter = 100 * time.Millisecond

// entry describes this process in the queue; "" before publishAfter.
func (c *contest) entry() string {
	waited := time.Since(c.began)
	if waited < publishAfter {
		return ""
	}
	w := records.Waiting{
		Holder: c.engine.Holder(time.Now().Add(-waited), c.req.Origin), Callers: 1,
		Holds: c.published(c.graph.Leases()), Backend: c.engine.Backend.Name,
	}
	for _, leases := range c.line.LeasesOfTurns() {
		w.Callers++
		w.Holds = append(w.Holds, c.published(leases)...)
	}
	return string(w.Append(nil))
}

// published describes leases for a queue entry. It omits the backend of leases on the queue's
// own nodes, whatever their engine calls it.
func (c *contest) published(leases []*deadlock.Lease) []lock.HeldLease {
	all := deadlock.InfoOf(leases)
	for i := range all {
		if all[i].Keyspace == c.engine.Backend.Keyspace {
			all[i].Backend = ""
		}
	}
	return all
}
