package serve

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/lockscope/lockscope/exporter"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/fleet"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/listing"
)

const (
	// waitsEvery is soon enough for the person who is paged for a deadlock.
	waitsEvery = 15 * time.Second
	// waitsShare bounds what of the time is spent reading: one part in so many.
	waitsShare = 4
	// goneAfter looks that do not find a deadlock it is over: waiters whose node died are
	// in no queue until they have found the next one.
	goneAfter = 2
	// maxDeadlocks are remembered: anybody can plant queues.
	maxDeadlocks = 1000
)

// blocking knows the waiters of all processes, and logs deadlocks.
// It is safe for concurrent use.
type blocking struct {
	logger *slog.Logger

	mu     sync.Mutex
	totals exporter.WaitTotals
	known  map[string]*seenDeadlock
	looked time.Time
	waits  *listing.Waits // as the last look at a majority of the nodes found them; nil: none did
	broken string         // why some waiters are unknown, as it was logged
}

type seenDeadlock struct {
	since  time.Time
	missed int // looks since it was last seen; -1 while one is taken up that has seen it
}

func newBlocking(logger *slog.Logger) *blocking {
	return &blocking{logger: logger, known: make(map[string]*seenDeadlock)}
}

// WaitTotals implements exporter.WaitSource.
func (b *blocking) WaitTotals() exporter.WaitTotals {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.totals
	t.Deadlocks = len(b.known)
	return t
}

// loop reads who waits, unless a page has just had it read, until ctx ends. A standby of
// --elect leaves that to the process that sweeps.
func (b *blocking) loop(ctx context.Context, s lockReader, every time.Duration) {
	for ctx.Err() == nil {
		pause := every
		if age := b.age(); age < every {
			pause -= age
		} else if !s.Snapshot().Standby {
			w, err := s.Waits(ctx) // w has how much of the nodes was read
			if !errors.Is(err, scanner.ErrClosed) {
				b.observe(ctx, w, time.Now())
			}
			pause = max(pause, waitsShare*w.Took)
		}
		ui.Pause(ctx, pause)
	}
}

func (b *blocking) age() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return time.Since(b.looked)
}

// newest is the newer one of a look and the last that was taken up.
func (b *blocking) newest(w *listing.Waits) *listing.Waits {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waits != nil && (w == nil || b.waits.At.After(w.At)) {
		return b.waits
	}
	return w
}

// observe takes up a look. One that has not read a majority of the nodes ends no
// deadlock and changes no metric.
func (b *blocking) observe(ctx context.Context, w *listing.Waits, now time.Time) {
	if w == nil || ctx.Err() != nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.looked = now
	b.tellUnread(ctx, w)
	b.appeared(ctx, w, now)
	if w.Read <= w.Of/2 {
		return
	}
	b.waits = w
	b.gone(ctx, now)
	b.totals.LastSuccess, b.totals.Blocked, b.totals.Waiting, b.totals.Longest = now, 0, 0, 0
	for i := range w.Locks {
		f := &w.Locks[i]
		if f.Construct().Kind == lock.KindElection { // a candidate stands by
			continue
		}
		b.totals.Blocked, b.totals.Waiting = b.totals.Blocked+1, b.totals.Waiting+f.Waiting()
		b.totals.Longest = max(b.totals.Longest, f.Longest())
	}
}

// appeared logs new cycles. It expects b.mu to be held, as gone and tellUnread do.
func (b *blocking) appeared(ctx context.Context, w *listing.Waits, now time.Time) {
	for _, d := range w.Deadlocks {
		text := d.String()
		if seen := b.known[text]; seen != nil {
			seen.missed = -1
			continue
		}
		if len(b.known) == maxDeadlocks {
			return
		}
		b.known[text] = &seenDeadlock{since: now, missed: -1}
		b.totals.Found++
		b.logger.ErrorContext(ctx, "deadlock", "cycle", text, "holders", holders(w, d))
	}
}

// found is for how many seconds a deadlock has been known.
func (b *blocking) found(d lock.DeadlockError, now time.Time) float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if known := b.known[d.String()]; known != nil {
		return max(0, now.Sub(known.since)).Seconds()
	}
	return 0
}

// gone logs the end of cycles that were not seen again.
func (b *blocking) gone(ctx context.Context, now time.Time) {
	for text, d := range b.known {
		if d.missed++; d.missed >= goneAfter {
			delete(b.known, text)
			b.logger.InfoContext(ctx, "deadlock is over", "cycle", text, "after",
				now.Sub(d.since).Round(time.Millisecond))
		}
	}
}

// tellUnread logs once why some waiters are unknown, and when all are known again.
func (b *blocking) tellUnread(ctx context.Context, w *listing.Waits) {
	why := ""
	if err := unread(w); err != nil {
		why = err.Error()
	}
	switch {
	case why != "" && b.broken == "":
		b.logger.WarnContext(ctx, "some waiters are unknown", "error", why, "read", w.Read, "of", w.Of)
	case why == "" && b.broken != "":
		b.logger.InfoContext(ctx, "all waiters are known again")
	}
	b.broken = why
}

// holders are those of the locks of a cycle, in its order.
func holders(w *listing.Waits, d lock.DeadlockError) (all []string) {
	for _, h := range d.Cycle {
		name := ui.Unknown
		if r := w.Graph.Resource(h.Resource); r != nil && r.Lease != nil {
			name = ui.Holder(inspect.Hold{Holder: r.Lease.Holder}, 0)
		}
		all = append(all, name)
	}
	return all
}

// graph makes of a reading of queues what the page says of who blocks whom, as it was then.
type graph struct {
	*listing.Waits
	fleet.Votes
}

// blocked counts every call, also those that have no row of their own.
func (g graph) blocked(rows []state.Waiter) (all []state.Blocked) {
	listed := make(map[string]int)
	for _, w := range rows {
		listed[w.Resource]++
	}
	for i := range g.Locks {
		f := &g.Locks[i]
		b := state.Blocked{
			Resource: inspect.KeyText(f.Resource), Waiting: f.Waiting(), Listed: listed[inspect.KeyText(f.Resource)],
			Longest: f.Longest().Seconds(), Holder: blocker(f.Lock), Construct: construct(f.Construct()),
			Reading: reading(f.Lock),
		}
		b.Writers = f.Writers()
		if class := classOf(g.Votes, f.Lock); class != "" {
			b.ByClass = state.ByClass{class: b.Waiting}
		}
		at := f.Resource
		for _, next := range g.Graph.Chain(f.Resource) {
			b.Chain = append(b.Chain, g.link(at, next))
			at = next
		}
		b.Deadlock = g.Graph.Stuck(f.Resource) && slices.ContainsFunc(g.Deadlocks, func(d lock.DeadlockError) bool {
			return slices.ContainsFunc(d.Cycle, func(h lock.HeldLease) bool { return h.Resource == f.Resource })
		})
		all = append(all, b)
	}
	return all
}

// link leads from the holder of one resource to another, which it waits for.
func (g graph) link(from, to string) state.Link {
	l := state.Link{Resource: inspect.KeyText(to)}
	i := slices.IndexFunc(g.Locks, func(f listing.WaitedFor) bool { return f.Resource == to })
	if i < 0 {
		return l
	}
	l.Holder = blocker(g.Locks[i].Lock)
	if w, ok := g.Graph.Waiter(from, to); ok {
		l.For, l.CallSite, l.TraceID = max(0, g.Locks[i].At.Sub(w.Since)).Seconds(), w.CallSite,
			fleet.TraceID(w.Traceparent)
	}
	return l
}

func (g graph) deadlocks() (all []state.Deadlock) {
	for _, d := range g.Waits.Deadlocks {
		cycle := state.Deadlock{}
		for i, held := range d.Cycle {
			before := d.Cycle[(i+len(d.Cycle)-1)%len(d.Cycle)]
			cycle.Cycle = append(cycle.Cycle, g.link(before.Resource, held.Resource))
		}
		all = append(all, cycle)
	}
	return all
}
