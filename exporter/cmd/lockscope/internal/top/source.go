package top

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/fleet"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/top/screen"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/waitgraph"
	"github.com/lockscope/lockscope/scanner/listing"
)

// patience is how long a refresh waits for sets that answer slowly; their last answer is shown then.
const patience = 1500 * time.Millisecond

// Source reads all sets of nodes, and pages. Close may come while a Read is under way.
type Source struct {
	reading sync.Mutex

	sets    []*task[answer]
	systems []system
	pages   *pages
	life    context.Context
	end     context.CancelFunc
	workers sync.WaitGroup
}

// system is a set of nodes.
type system interface {
	// first is what is known before anything was read.
	first() answer
	// read asks the nodes. It returns when they have answered or their time is up.
	read(ctx context.Context) answer
	// suggest names resources that somebody waits for, as pages say.
	suggest(resources []string)
	close()
}

// answer is what is known of a set. Its rows are made with those of the other sets and with pages.
type answer struct {
	screen.Set
	waits *listing.Waits // nil: they were not read
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
	var sets []fleet.Set
	for _, t := range s.sets {
		a, _ := t.latest()
		snap.Sets = append(snap.Sets, a.Set)
		sets = append(sets, fleet.Set{Name: a.Name, Waits: a.waits, Votes: a.Votes()})
	}
	s.withPages(ctx, &snap, sets)
	snap.At = time.Now()
	return snap
}

func (s *Source) withPages(ctx context.Context, snap *screen.Snapshot, sets []fleet.Set) {
	s.pages.publish(sets)
	s.pages.task.start(s.life, &s.workers)
	s.pages.task.wait(ctx)
	all, _ := s.pages.task.latest()
	for _, r := range fleet.Rows(sets, all) {
		snap.Add(r)
	}
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

// otherTime bounds the reading of another system: longer than connecting to it takes.
const otherTime = 8 * time.Second

// otherSet is a system beside Redis: two questions a refresh. Only its task uses it.
type otherSet struct {
	called    string
	inspector inspect.Inspector
	answered  time.Time
	slowest   time.Duration
	watch     waitgraph.Watch
}

func (o *otherSet) close() { o.inspector.Close() }

func (o *otherSet) suggest([]string) {} // its waiters are read whole

func (o *otherSet) first() answer {
	return answer{Set: screen.Set{Name: o.called, Err: errNotYet.Error(),
		Nodes: []screen.Node{{Name: o.inspector.Address(), State: state.NodeDown, Why: errNotYet.Error()}}}}
}

func (o *otherSet) read(ctx context.Context) answer {
	ctx, cancel := context.WithTimeout(ctx, otherTime)
	defer cancel()
	set := answer{Set: screen.Set{Name: o.called}}
	node := screen.Node{Name: o.inspector.Address(), State: state.NodeUp}
	began := time.Now()
	_, w, err := listing.Inspect(ctx, o.inspector, &o.watch)
	if err == nil {
		o.answered, node.Latency = time.Now(), time.Since(began)
		o.slowest = max(o.slowest, node.Latency)
		set.Deadlocks = fleet.Deadlocks(w)
		set.waits = w
		if err := fleet.QueuesErr(w); err != nil {
			set.Err = oneLine(err)
		}
	} else {
		node.State, node.Why, set.Err = state.NodeDown, oneLine(err), oneLine(err)
	}
	node.Answered, node.Slowest = o.answered, o.slowest
	set.Nodes, set.Scan = []screen.Node{node}, screen.Scan{Done: 1, Last: time.Now()}
	set.Read = time.Now()
	return set
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// task does one thing at a time in the background and keeps the last result.
type task[T any] struct {
	run func(context.Context) T

	mu   sync.Mutex
	last T
	done chan struct{} // closed when the run under way has ended; nil: none is
}

func newTask[T any](first T, run func(context.Context) T) *task[T] {
	return &task[T]{run: run, last: first}
}

// start begins a run unless one is under way. workers counts it.
func (t *task[T]) start(life context.Context, workers *sync.WaitGroup) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.done != nil {
		return
	}
	done := make(chan struct{})
	t.done = done
	workers.Go(func() {
		defer close(done)
		result := t.run(life)
		t.mu.Lock()
		defer t.mu.Unlock()
		t.last, t.done = result, nil
	})
}

// wait returns when no run is under way, or ctx ends.
func (t *task[T]) wait(ctx context.Context) {
	t.mu.Lock()
	done := t.done
	t.mu.Unlock()
	if done == nil {
		return
	}
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// latest is the result of the last run that has ended, and whether no run is under way.
func (t *task[T]) latest() (result T, idle bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last, t.done == nil
}
