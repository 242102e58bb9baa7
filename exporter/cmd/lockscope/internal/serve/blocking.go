package serve

import (
	"context"
	"errors"
	"log/slog"
	"maps"
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
	known  map[cycle]*seenDeadlock
	looked time.Time
	waits  map[string]*listing.Waits // of each set, as the last look at a majority of its nodes found them
	broken string                    // why some waiters are unknown, as it was logged
}

// cycle is a deadlock on a set.
type cycle struct{ set, text string }

type seenDeadlock struct {
	since  time.Time
	missed int // looks since it was last seen; -1 while one is taken up that has seen it
}

func newBlocking(logger *slog.Logger) *blocking {
	return &blocking{logger: logger, known: make(map[cycle]*seenDeadlock)}
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
			parts := s.Waits(ctx) // how much of the nodes was read they say themselves
			closed := slices.ContainsFunc(parts, func(p part) bool { return errors.Is(p.err, scanner.ErrClosed) })
			if !closed { // by a reload, or at the end
				b.observe(ctx, parts, time.Now())
			}
			for i := range parts {
				pause = max(pause, waitsShare*parts[i].Waits.Took)
			}
		}
		ui.Pause(ctx, pause)
	}
}

func (b *blocking) age() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return time.Since(b.looked)
}

// newest are the same, with the waits of the last look that was taken up, where that is newer.
func (b *blocking) newest(parts []part) []part {
	b.mu.Lock()
	defer b.mu.Unlock()
	parts = slices.Clone(parts)
	if len(parts) == 0 { // the first listing of many keys takes minutes
		for _, set := range slices.Sorted(maps.Keys(b.waits)) {
			parts = append(parts, part{set: set})
		}
	}
	for i := range parts {
		p := &parts[i]
		if w := b.waits[p.set]; w != nil && (p.Waits == nil || w.At.After(p.Waits.At)) {
			p.Waits = w
		}
	}
	return parts
}

// observe takes up a look at all sets. Where it has not read a majority of the nodes, it ends no deadlock and changes no
// metric.
func (b *blocking) observe(ctx context.Context, parts []part, now time.Time) {
	if ctx.Err() != nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.looked = now
	b.tellUnread(ctx, parts)
	waits, unread := make(map[string]*listing.Waits), make(map[string]bool)
	for i := range parts {
		p := &parts[i]
		if p.Waits != nil {
			b.appeared(ctx, p, now)
		}
		if waits[p.set] = p.Waits; p.Waits == nil || p.Waits.Read <= p.Waits.Of/2 {
			waits[p.set], unread[p.set] = b.waits[p.set], true
		}
	}
	b.waits = waits
	b.gone(ctx, unread, now)
	if len(unread) == 0 {
		b.totals.LastSuccess = now
	}
	b.count()
}

// count expects b.mu to be held, as what follows does.
func (b *blocking) count() {
	b.totals.Blocked, b.totals.Waiting, b.totals.Longest = 0, 0, 0
	for _, w := range b.waits {
		if w == nil {
			continue
		}
		for i := range w.Locks {
			f := &w.Locks[i]
			if f.Construct().Kind == lock.KindElection { // a candidate stands by
				continue
			}
			b.totals.Blocked, b.totals.Waiting = b.totals.Blocked+1, b.totals.Waiting+f.Waiting()
			b.totals.Longest = max(b.totals.Longest, f.Longest())
		}
	}
}

// appeared logs new cycles.
func (b *blocking) appeared(ctx context.Context, p *part, now time.Time) {
	for _, d := range p.Waits.Deadlocks {
		of := cycle{p.set, d.String()}
		if seen := b.known[of]; seen != nil {
			seen.missed = -1
			continue
		}
		if len(b.known) == maxDeadlocks {
			return
		}
		b.known[of] = &seenDeadlock{since: now, missed: -1}
		b.totals.Found++
		inGroup(b.logger, p.set).ErrorContext(ctx, "deadlock", "cycle", of.text, "holders", holders(p.Waits, d))
	}
}

// found is for how many seconds a deadlock has been known.
func (b *blocking) found(set string, d lock.DeadlockError, now time.Time) float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if known := b.known[cycle{set, d.String()}]; known != nil {
		return max(0, now.Sub(known.since)).Seconds()
	}
	return 0
}

// gone logs the end of cycles that were not seen again, except in sets that were not read.
func (b *blocking) gone(ctx context.Context, unread map[string]bool, now time.Time) {
	for of, d := range b.known {
		if unread[of.set] {
			d.missed = max(d.missed, 0)
		} else if d.missed++; d.missed >= goneAfter {
			delete(b.known, of)
			inGroup(b.logger, of.set).InfoContext(ctx, "deadlock is over", "cycle", of.text, "after",
				now.Sub(d.since).Round(time.Millisecond))
		}
	}
}

// tellUnread logs once why some waiters are unknown, and when all are known again.
func (b *blocking) tellUnread(ctx context.Context, parts []part) {
	why, read, of := "", 0, 0
	if err := unread(parts); err != nil {
		why = err.Error()
	}
	for i := range parts {
		if w := parts[i].Waits; w != nil {
			read, of = read+w.Read, of+w.Of
		}
	}
	switch {
	case why != "" && b.broken == "":
		b.logger.WarnContext(ctx, "some waiters are unknown", "error", why, "read", read, "of", of)
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

// blocked is who blocks whom, as it was when the queues were read. It counts every call, also those that have no row of
// their own.
func (p *part) blocked(rows []state.Waiter) (all []state.Blocked) {
	listed := make(map[string]int)
	for _, w := range rows {
		if w.Backend == p.set {
			listed[w.Resource]++
		}
	}
	for i := range p.Waits.Locks {
		f := &p.Waits.Locks[i]
		b := state.Blocked{
			Resource: inspect.KeyText(f.Resource), Backend: p.set, Waiting: f.Waiting(), Listed: listed[inspect.KeyText(f.Resource)],
			Longest: f.Longest().Seconds(), Holder: blocker(f.Lock), Construct: construct(f.Construct()),
			Reading: reading(f.Lock),
		}
		b.Writers = f.Writers()
		if class := classOf(p.votes, f.Lock); class != "" {
			b.ByClass = state.ByClass{class: b.Waiting}
		}
		at := f.Resource
		for _, next := range p.Waits.Graph.Chain(f.Resource) {
			b.Chain = append(b.Chain, p.link(at, next))
			at = next
		}
		b.Deadlock = p.Waits.Graph.Stuck(f.Resource) && slices.ContainsFunc(p.Waits.Deadlocks, func(d lock.DeadlockError) bool {
			return slices.ContainsFunc(d.Cycle, func(h lock.HeldLease) bool { return h.Resource == f.Resource })
		})
		all = append(all, b)
	}
	return all
}

// link leads from the holder of one resource to another, which it waits for.
func (p *part) link(from, to string) state.Link {
	l := state.Link{Resource: inspect.KeyText(to), Backend: p.set}
	i := slices.IndexFunc(p.Waits.Locks, func(f listing.WaitedFor) bool { return f.Resource == to })
	if i < 0 {
		return l
	}
	l.Holder = blocker(p.Waits.Locks[i].Lock)
	if w, ok := p.Waits.Graph.Waiter(from, to); ok {
		l.For, l.CallSite, l.TraceID = max(0, p.Waits.Locks[i].At.Sub(w.Since)).Seconds(), w.CallSite,
			fleet.TraceID(w.Traceparent)
	}
	return l
}

func (p *part) deadlock(of lock.DeadlockError, found float64) state.Deadlock {
	d := state.Deadlock{Found: found}
	for i, held := range of.Cycle {
		before := of.Cycle[(i+len(of.Cycle)-1)%len(of.Cycle)]
		d.Cycle = append(d.Cycle, p.link(before.Resource, held.Resource))
	}
	return d
}
