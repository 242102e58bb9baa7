package fleet

import (
	"strings"

	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/listing"
)

// Deadlocks say of each cycle who holds what and waits for what.
func Deadlocks(w *listing.Waits) (texts []string) {
	for _, d := range w.Deadlocks {
		links := make([]string, len(d.Cycle))
		for i, h := range d.Cycle {
			next, holder := d.Cycle[(i+1)%len(d.Cycle)].Resource, ""
			if r := w.Graph.Resource(h.Resource); r != nil && r.Lease != nil {
				holder = r.Lease.Holder.Instance
			}
			if waiter, ok := w.Graph.Waiter(h.Resource, next); ok && waiter.Instance != "" {
				holder = waiter.Instance // of several readers the one that waits
			}
			links[i] = state.HolderName(holder, false) + " holds " + inspect.KeyText(h.Resource) + " and waits for " +
				inspect.KeyText(next)
		}
		texts = append(texts, strings.Join(links, "; "))
	}
	return texts
}
