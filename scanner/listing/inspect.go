package listing

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/redlock/stored"
	"github.com/lockscope/lockscope/lock/waitgraph"
	"github.com/lockscope/lockscope/scanner/internal/clock"
)

// secondLook is the time after which a cycle must still be there.
const secondLook = 150 * time.Millisecond

// Inspect reads holders and waiters of a system beside Redis. A cycle counts as a deadlock if a second look finds it
// unchanged, or if watch has it of an earlier reading. Inspect always returns Waits; if they could not be read, their Err
// says why. err is about the locks alone.
func Inspect(ctx context.Context, in inspect.Reader, watch *waitgraph.Watch) (locks []Lock, w *Waits, err error) {
	locks, w, err = look(ctx, in)
	w.Deadlocks = watch.Deadlocks(w.Graph)
	if watch.Suspects() && len(w.Deadlocks) == 0 && clock.Pause(ctx, secondLook) {
		if again, later, err := look(ctx, in); err == nil {
			locks, w = again, later
			w.Deadlocks = watch.Deadlocks(w.Graph)
		}
	}
	return locks, w, err
}

// look reads holders and waiters once: a cycle in the graph need not be a deadlock.
func look(ctx context.Context, in inspect.Reader) ([]Lock, *Waits, error) {
	held, err := in.HeldLocks(ctx)
	if err != nil {
		return nil, NoWaits(), err
	}
	locks, now := make([]Lock, 0, len(held)), time.Now()
	for i := range held {
		locks = append(locks, lockOf(&held[i], in.Resource(held[i].Key), now))
	}
	w := &Waits{Of: 1}
	waiting, err := in.Waiting(ctx)
	w.At = time.Now()
	if w.Err = err; err == nil {
		w.Read = 1
	}
	w.Locks = queuesOf(waiting, in, w.At)
	w.Graph = graphOf(locks, w.Locks)
	byKey := make(map[string]*Lock, len(locks))
	for i := range locks {
		byKey[locks[i].Key] = &locks[i]
	}
	for i := range w.Locks {
		w.Locks[i].Lock = byKey[w.Locks[i].Key]
	}
	ReadSlots(w.Locks, func(key string) (*Lock, bool) { return byKey[key], true })
	rank := make(map[string]int)
	for i, c := range w.Graph.Contended(w.At) {
		rank[c.Name] = i
	}
	slices.SortStableFunc(w.Locks, func(a, b WaitedFor) int { return cmp.Compare(rank[a.Resource], rank[b.Resource]) })
	return locks, w, nil
}

// NoWaits is of nodes that were not asked for waiters.
func NoWaits() *Waits { return &Waits{Graph: waitgraph.New()} }

// lockOf is a lock on one node, which votes by itself.
func lockOf(h *inspect.HeldLock, resource string, now time.Time) Lock {
	l := Lock{Key: h.Key, Resource: resource, Type: h.Type, Nodes: 1, Of: 1, TTL: h.Remaining, LongestTTL: h.Remaining,
		At: now}
	l.Hold = inspect.Hold{Holder: h.Holder, Format: inspect.FormatLockscope, Fence: h.Fence}
	if h.Holder == (lock.Holder{}) {
		l.Hold = inspect.Hold{Format: inspect.FormatUnknown}
	}
	return l
}

func queuesOf(waiting []inspect.Waiting, in inspect.Reader, now time.Time) (all []WaitedFor) {
	at := make(map[string]int)
	for _, w := range waiting {
		i, known := at[w.Key]
		if !known {
			i = len(all)
			at[w.Key] = i
			all = append(all, WaitedFor{Key: w.Key, Resource: in.Resource(w.Key), At: now})
		}
		q := &all[i]
		if q.Processes++; len(q.Queue) >= MaxQueued {
			continue
		}
		q.Queue = append(q.Queue, stored.Queued{ID: strconv.Itoa(q.Processes), Since: w.Since, Says: w.Says})
		q.Callers++
		if w.Says != nil {
			q.Callers += w.Says.Callers - 1
		}
	}
	return all
}

// graphOf leads from leases, also of locks that nobody waits for, to what their holders wait for, as far as waiters say
// what they hold.
func graphOf(locks []Lock, queues []WaitedFor) *waitgraph.Graph {
	all := make([]WaitedFor, 0, len(locks)+len(queues))
	for i := range locks {
		all = append(all, WaitedFor{Resource: locks[i].Resource, Lock: &locks[i]})
	}
	return Graph(append(all, queues...))
}
