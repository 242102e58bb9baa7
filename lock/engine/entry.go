package engine

import (
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/internal/deadlock"
	"github.com/lockscope/lockscope/lock/engine/records"
)

// publishAfter is how long a call has waited before its process says more of itself
// than its place: hand-offs that take no time need not pay for it.
const publishAfter = 100 * time.Millisecond

// entry is what this process says of itself in the queue; "" as long as it has not waited.
func (a *acquisition) entry() string {
	waited := time.Since(a.began)
	if a.opts.NoWait || waited < publishAfter {
		return ""
	}
	w := records.Waiting{
		Holder: a.engine.holder(time.Now().Add(-waited), a.origin), Callers: 1,
		Holds: a.engine.published(a.graph.Leases()), Backend: a.engine.backend.Name,
	}
	for _, leases := range a.queue.leasesOfTurns() {
		w.Callers++
		w.Holds = append(w.Holds, a.engine.published(leases)...)
	}
	return string(w.Append(nil))
}

// published are leases as a queue entry names them: without the set of nodes if it is the
// queue's, whatever the lease's engine calls it.
func (e *base) published(leases []*deadlock.Lease) []lock.Held {
	all := deadlock.InfoOf(leases)
	for i := range all {
		if all[i].Keyspace == e.backend.Keyspace {
			all[i].Backend = ""
		}
	}
	return all
}
