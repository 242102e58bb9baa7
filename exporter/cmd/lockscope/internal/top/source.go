package top

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/top/screen"
)

// patience is how long a refresh waits for sets that answer slowly; their last answer is shown then.
const patience = 1500 * time.Millisecond

// Source reads all sets of nodes, and pages. Close may come while a Read is under way.
type Source struct {
	reading sync.Mutex

	sets    []*task[screen.Set]
	systems []system
	pages   *pages
	life    context.Context
	end     context.CancelFunc
	workers sync.WaitGroup
}

// system is a set of nodes.
type system interface {
	// first is what is known before anything was read.
	first() screen.Set
	// read asks the nodes. It returns when they have answered or their time is up.
	read(ctx context.Context) screen.Set
	// suggest names resources that somebody waits for, as pages say.
	suggest(resources []string)
	close()
}

func newSource(systems []system, p *pages) *Source {
	s := &Source{systems: systems, pages: p}
	s.life, s.end = context.WithCancel(context.Background())
	for _, one := range systems {
		s.sets = append(s.sets, newTask(one.first(), one.read))
	}
	return s
}

// Read asks all nodes and returns what is known of them now. It returns after two seconds at most, also when ctx
// ends. After Close it asks nobody.
func (s *Source) Read(ctx context.Context) screen.Snapshot {
	s.reading.Lock()
	defer s.reading.Unlock()
	if s.life.Err() != nil {
		return screen.Snapshot{At: time.Now()}
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, t := range s.sets {
		t.start(s.life, &s.workers)
	}
	for _, t := range s.sets {
		t.wait(ctx)
	}
	snap := screen.Snapshot{At: time.Now()}
	for _, t := range s.sets {
		set, _ := t.latest()
		snap.Sets = append(snap.Sets, copyOf(set))
	}
	s.withPages(ctx, &snap)
	for i := range snap.Sets {
		snap.Sets[i].Classify()
		snap.Sets[i].JoinSlots()
	}
	snap.At = time.Now()
	return snap
}

func (s *Source) withPages(ctx context.Context, snap *screen.Snapshot) {
	s.pages.publish(snap)
	s.pages.task.start(s.life, &s.workers)
	s.pages.task.wait(ctx)
	all, _ := s.pages.task.latest()
	merge(snap, all)
	snap.Pages = s.pages.sum(all)
	for _, one := range s.systems {
		one.suggest(waitedFor(all))
	}
}

// Close ends what is under way and closes all connections. The screen does not wait for a refresh before it ends.
func (s *Source) Close() {
	s.end()
	s.reading.Lock()
	defer s.reading.Unlock()
	s.workers.Wait()
	for _, one := range s.systems {
		one.close()
	}
}

// copyOf lets the merge with pages change a set that a later snapshot shows again.
func copyOf(set screen.Set) screen.Set {
	set.Resources = slices.Clone(set.Resources)
	for i := range set.Resources {
		set.Resources[i].Waiters = slices.Clone(set.Resources[i].Waiters)
	}
	return set
}
