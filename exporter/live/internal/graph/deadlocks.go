package graph

import (
	"slices"
	"sync"
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/text"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/waitgraph"
)

const (
	maxDeadlocks = 10
	// deadlocksFor is how long a resolved deadlock stays listed.
	deadlocksFor = 10 * time.Minute
	// deadlockAgain is the shortest time between two looks that confirm a cycle.
	deadlockAgain = 50 * time.Millisecond
)

// Deadlocks keeps the latest deadlocks. Engines report theirs at once. Cycles between lockers that do not know each
// other are found by two looks.
type Deadlocks struct {
	mu     sync.Mutex
	watch  waitgraph.Watch
	looked time.Time
	all    []*deadlock // latest first
}

type deadlock struct {
	cycle lock.DeadlockError // of keys
	found time.Time
	seen  time.Time // the last time
	over  bool
	told  []state.Link // as it was when it was last seen
}

// Tell records a deadlock. A known one is current again.
func (ds *Deadlocks) Tell(d lock.DeadlockError, now time.Time) {
	if len(d.Cycle) == 0 {
		return
	}
	ds.mu.Lock()
	defer ds.mu.Unlock()
	ds.add(waitgraph.FromFirst(lock.DeadlockError{Cycle: text.KeyedAll(d.Cycle)}), now)
}

// add requires that mu is held.
func (ds *Deadlocks) add(d lock.DeadlockError, now time.Time) {
	if i := ds.index(d); i >= 0 {
		ds.all[i].over = false
		return
	}
	told := make([]state.Link, 0, len(d.Cycle))
	for _, h := range d.Cycle[:min(len(d.Cycle), state.MaxChain)] {
		of := text.IDOf(h.Resource)
		told = append(told, state.Link{Resource: text.Resource(of.Resource), Backend: text.Name(of.Backend)})
	}
	ds.all = slices.Insert(ds.all, 0, &deadlock{cycle: d, found: now, seen: now, told: told})
	ds.all = ds.all[:min(len(ds.all), maxDeadlocks)]
}

func (ds *Deadlocks) index(d lock.DeadlockError) int {
	return slices.IndexFunc(ds.all, func(known *deadlock) bool { return slices.Equal(known.cycle.Cycle, d.Cycle) })
}

// Look returns the deadlocks that the graph still has and, for a while, the resolved ones.
func (ds *Deadlocks) Look(g *Graph, now time.Time) []state.Deadlock {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	if now.Sub(ds.looked) >= deadlockAgain {
		ds.looked = now
		for _, d := range ds.watch.Deadlocks(g.Graph) {
			ds.add(d, now)
		}
	}
	for _, known := range ds.all {
		known.over = true
	}
	for _, d := range g.Cycles() {
		if i := ds.index(d); i >= 0 {
			known := ds.all[i]
			known.over, known.seen, known.told = false, now, g.cycle(d)
		}
	}
	ds.all = slices.DeleteFunc(ds.all, func(d *deadlock) bool { return now.Sub(d.seen) >= deadlocksFor })
	told := make([]state.Deadlock, 0, len(ds.all))
	for _, over := range []bool{false, true} {
		for _, d := range ds.all {
			if d.over == over {
				ago := max(now.Sub(d.found), 0)
				told = append(told, state.Deadlock{Found: ago.Seconds(), Over: over, Cycle: slices.Clone(d.told)})
			}
		}
	}
	return told
}
