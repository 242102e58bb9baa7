package live

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/waitgraph"
)

const (
	maxDeadlocks = 10
	// deadlocksFor is how long one that is over is told.
	deadlocksFor = 10 * time.Minute
	// deadlockAgain is how far apart two looks must be for a cycle to count.
	deadlockAgain = 50 * time.Millisecond
)

// deadlocks has the latest. Engines tell of them at once; those between lockers that know
// nothing of each other are found by looking twice.
type deadlocks struct {
	mu     sync.Mutex
	watch  waitgraph.Watch
	looked time.Time
	all    []*deadlock // latest first
}

type deadlock struct {
	cycle lock.Deadlock // of keys
	found time.Time
	seen  time.Time // the last time
	over  bool
	told  []Link // as it was when it was last seen
}

func (l *locker) onDeadlock(_ context.Context, d lock.Deadlock) {
	defer contain()
	l.board.deadlocks.tell(lock.Deadlock{Cycle: l.board.sets.held(d.Cycle)}, time.Now())
}

// tell notes a deadlock; one that is known is there again.
func (ds *deadlocks) tell(d lock.Deadlock, now time.Time) {
	if len(d.Cycle) == 0 {
		return
	}
	ds.mu.Lock()
	defer ds.mu.Unlock()
	ds.add(waitgraph.FromFirst(lock.Deadlock{Cycle: keyedAll(d.Cycle)}), now)
}

// add must be called with mu held.
func (ds *deadlocks) add(d lock.Deadlock, now time.Time) {
	if i := ds.index(d); i >= 0 {
		ds.all[i].over = false
		return
	}
	told := make([]Link, 0, len(d.Cycle))
	for _, h := range d.Cycle[:min(len(d.Cycle), MaxChain)] {
		of := idOf(h.Resource)
		told = append(told, Link{Resource: clip(of.resource, maxResource), Backend: clip(of.backend, maxName)})
	}
	ds.all = slices.Insert(ds.all, 0, &deadlock{cycle: d, found: now, seen: now, told: told})
	ds.all = ds.all[:min(len(ds.all), maxDeadlocks)]
}

func (ds *deadlocks) index(d lock.Deadlock) int {
	return slices.IndexFunc(ds.all, func(known *deadlock) bool { return slices.Equal(known.cycle.Cycle, d.Cycle) })
}

// look tells the deadlocks: those that the graph still has, and for a while those that
// are over.
func (ds *deadlocks) look(g *graph, now time.Time) []Deadlock {
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
	told := make([]Deadlock, 0, len(ds.all))
	for _, d := range ds.all {
		told = append(told, Deadlock{Found: max(now.Sub(d.found), 0).Seconds(), Over: d.over, Cycle: slices.Clone(d.told)})
	}
	slices.SortStableFunc(told, func(x, y Deadlock) int { return cmp.Compare(rankOver(x), rankOver(y)) })
	return told
}

func rankOver(d Deadlock) int {
	if d.Over {
		return 1
	}
	return 0
}
