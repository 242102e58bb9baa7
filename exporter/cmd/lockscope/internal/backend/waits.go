package backend

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/records"
	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/lock/waitgraph"
	"github.com/lockscope/lockscope/scanner/listing"
	"github.com/lockscope/lockscope/scanner/report"
)

// secondLook is how long after a cycle was seen it must still be there.
const secondLook = 150 * time.Millisecond

// NoWaits is of a system that was not asked for waiters.
func NoWaits() *listing.Waits { return &listing.Waits{Graph: waitgraph.New()} }

// Read reads holders and waiters. A cycle counts as a deadlock if a second look finds it unchanged. It always returns
// Waits; if they could not be read, their Err says why. err is about the locks alone.
func Read(ctx context.Context, b Backend) (locks []listing.Lock, w *listing.Waits, err error) {
	if err := b.Connect(ctx); err != nil {
		return nil, NoWaits(), err
	}
	return Reread(ctx, b, &waitgraph.Watch{})
}

// Reread is Read of a system that is connected. watch has the cycles of an earlier reading, if there was one: those
// need no second look.
func Reread(ctx context.Context, b Backend, watch *waitgraph.Watch,
) (locks []listing.Lock, w *listing.Waits, err error) {
	locks, w, err = look(ctx, b)
	w.Deadlocks = watch.Deadlocks(w.Graph)
	if watch.Suspects() && len(w.Deadlocks) == 0 && ui.Pause(ctx, secondLook) {
		if again, later, err := look(ctx, b); err == nil {
			locks, w = again, later
			w.Deadlocks = watch.Deadlocks(w.Graph)
		}
	}
	return locks, w, err
}

// look reads holders and waiters once: a cycle in the graph need not be a deadlock.
func look(ctx context.Context, b Backend) ([]listing.Lock, *listing.Waits, error) {
	locks, err := b.HeldLocks(ctx)
	if err != nil {
		return nil, NoWaits(), err
	}
	now := time.Now()
	for i := range locks {
		locks[i].At = now
	}
	w := &listing.Waits{Of: 1}
	waiting, err := b.Waiting(ctx)
	w.At = time.Now()
	if w.Err = err; err == nil {
		w.Read = 1
	}
	w.Locks = queues(waiting, locks)
	for i := range w.Locks {
		w.Locks[i].At = w.At
	}
	byKey := make(map[string]*listing.Lock, len(locks))
	for i := range locks {
		byKey[locks[i].Key] = &locks[i]
	}
	listing.ReadSlots(w.Locks, func(key string) (*listing.Lock, bool) { return byKey[key], true })
	w.Graph = graph(w.Locks, locks, w.At)
	rank := make(map[string]int)
	for i, c := range w.Graph.Contended(w.At) {
		rank[c.Name] = i
	}
	slices.SortStableFunc(w.Locks, func(a, b listing.WaitedFor) int {
		return cmp.Compare(rank[a.Resource], rank[b.Resource])
	})
	return locks, w, nil
}

func queues(waiting []Waiter, locks []listing.Lock) (all []listing.WaitedFor) {
	at := make(map[string]int)
	for _, w := range waiting {
		i, known := at[w.Key]
		if !known {
			i = len(all)
			at[w.Key] = i
			all = append(all, listing.WaitedFor{Key: w.Key, Resource: w.Resource})
		}
		q := &all[i]
		if q.Processes++; len(q.Queue) >= listing.MaxQueued {
			continue
		}
		q.Queue = append(q.Queue, redlock.Queued{ID: strconv.Itoa(q.Processes), Since: w.Since, Says: w.Says})
		q.Callers++
		if w.Says != nil {
			q.Callers += w.Says.Callers - 1
		}
	}
	for i := range locks {
		if q, waited := at[locks[i].Key]; waited {
			all[q].Lock = &locks[i]
		}
	}
	return all
}

// graph leads from leases to what their holders wait for, as far as waiters say what they hold.
func graph(queues []listing.WaitedFor, locks []listing.Lock, now time.Time) *waitgraph.Graph {
	resources := make([]waitgraph.Resource, 0, len(queues)+len(locks))
	for _, l := range locks {
		r := waitgraph.Resource{Name: l.Resource}
		if l.Hold.Format == report.FormatLockscope {
			r.Lease = &waitgraph.Lease{Fence: l.Hold.Fence, Holder: l.Hold.Holder}
		}
		resources = append(resources, r)
	}
	for _, q := range queues {
		r := waitgraph.Resource{Name: q.Resource}
		for _, w := range q.Queue {
			said := records.Waiting{Holder: lock.Holder{Since: w.Since}, Callers: 1}
			if w.Says != nil {
				said = *w.Says
			}
			if said.Since.IsZero() {
				said.Since = now // the time is unknown
			}
			r.Waiters = append(r.Waiters, said)
		}
		resources = append(resources, r)
	}
	return waitgraph.New(resources...)
}
