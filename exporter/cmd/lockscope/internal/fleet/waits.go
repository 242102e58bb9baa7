package fleet

import (
	"fmt"
	"strings"

	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
	"github.com/lockscope/lockscope/scanner/listing"
)

// Published returns the pages that holders and waiters publish, those of waiters first.
func Published(l listing.Listing) (pages []string) {
	add := func(page string) {
		if page != "" {
			pages = append(pages, page)
		}
	}
	if l.Waits != nil {
		for _, w := range l.Waits.Locks {
			for _, q := range w.Queue {
				if q.Says != nil {
					add(q.Says.Page)
				}
			}
			if w.Lock != nil {
				add(w.Lock.Hold.Page)
			}
			for _, slot := range w.Slots {
				add(slot.Hold.Page)
			}
		}
	}
	for _, k := range l.Locks {
		add(k.Hold.Page)
	}
	return pages
}

// QueuesErr is of queues that could not be read; nil if all could.
func QueuesErr(w *listing.Waits) error {
	switch {
	case w.Err != nil && redisconn.IsDenied(w.Err) && !redisconn.IsStranger(w.Err):
		return fmt.Errorf(
			"%w (grant +scan %%R~lockscope:queue:* %%R~lockscope:waiter:* "+
				"+zrange +zcard +mget)", w.Err)
	case w.Omitted:
		return fmt.Errorf("only the first %d locks with waiters were read: use --filter",
			listing.MaxWaitedFor)
	}
	return w.Err
}

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

// TraceID is the trace of a W3C traceparent; "" if it has none.
func TraceID(traceparent string) string {
	if parts := strings.Split(traceparent, "-"); len(parts) >= 4 && len(parts[1]) == 32 {
		return parts[1]
	}
	return ""
}

// HoldsText names what a process holds.
func HoldsText(holds []lock.HeldLease) string {
	names := make([]string, len(holds))
	for i, h := range holds {
		if names[i] = h.Resource; h.Backend != "" {
			names[i] += " (" + h.Backend + ")"
		}
	}
	return strings.Join(names, ", ")
}
