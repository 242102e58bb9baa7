package live

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/calls"
	"github.com/lockscope/lockscope/exporter/live/internal/graph"
	"github.com/lockscope/lockscope/exporter/live/internal/profile"
	"github.com/lockscope/lockscope/exporter/live/internal/sessions"
	"github.com/lockscope/lockscope/exporter/live/internal/timeline"
	"github.com/lockscope/lockscope/exporter/live/internal/waits"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
)

// Board records what its wrapped Lockers do. Its zero value is not usable: see New. It is safe for concurrent use,
// and needs no closing.
type Board struct {
	cfg config
	written
	past *sessions.History
}

// New makes an empty Board. It returns ErrInvalidOption for a nil option and an unusable value.
func New(opts ...Option) (*Board, error) {
	cfg, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	register := calls.NewRegister(waits.New(cfg.window), timeline.NewSlowest(cfg.slowest), profile.New(cfg.profileRate),
		cfg.timelines)
	b := &Board{cfg: cfg, written: written{calls: register}, past: sessions.New(time.Now())}
	b.sampler = sessions.NewSampler(b.past.Until, b.sample, register.Busy)
	return b, nil
}

// Wrap returns a Locker that behaves as next does and records on b. Several Lockers may record on one Board. Wrap
// each Locker once.
//
// It returns ErrInvalidOption for a nil next, a nil option and an unusable value.
func (b *Board) Wrap(next lock.Locker, opts ...WrapOption) (lock.Locker, error) {
	if next == nil {
		return nil, fmt.Errorf("%w: the Locker to wrap is nil", ErrInvalidOption)
	}
	w := wrapping{instance: b.cfg.instance}
	for _, opt := range opts {
		if opt == nil {
			return nil, fmt.Errorf("%w: nil WrapOption", ErrInvalidOption)
		}
		opt(&w)
	}
	if w.instance == "" {
		return nil, fmt.Errorf("%w: WithLockerInstance: must not be empty", ErrInvalidOption)
	}
	return newLocker(&b.written, next, storedName(w.instance)), nil
}

// State returns the current state. It asks no node and waits for nothing. When ctx ends, it lists what it has
// gathered so far and counts the rest as omitted. The caller may change the result. Concurrent calls are safe. A call
// takes well below a millisecond unless many thousands hold or wait.
func (b *Board) State(ctx context.Context) state.State {
	now := time.Now()
	l := b.calls.Look(now, b.cfg.maxShown)
	g := graph.New(l)
	s := state.State{
		At: now.Round(0).UTC(), Instance: b.cfg.instance, TraceURL: b.cfg.traceURL,
		Objectives: state.Objectives{Warning: b.cfg.warning.Seconds(), Alarm: b.cfg.alarm.Seconds()},
		Totals:     g.Totals(), Deadlocks: b.deadlocks.Look(g, now),
		Waits: b.calls.Waits.Points(now), Nodes: b.nodes.Health(now), Slowest: b.calls.Slowest.Acquisitions(now),
	}
	s.Inflicted = b.calls.Profile.MostInflicted(now) // Look has charged the waits under way
	slices.SortStableFunc(s.Nodes, func(x, y state.Node) int {
		return cmp.Or(strings.Compare(x.Backend, y.Backend), strings.Compare(x.Name, y.Name))
	})
	s.Sets = state.SetsOf(s.Nodes)
	s.Totals.Recent = b.calls.Waits.Recent(now, waited(l))
	longest := time.Duration(0)
	for d := range waited(l) {
		longest = max(longest, d)
	}
	s.Stalls = b.calls.Waits.Stalls(now, longest)
	s.History = b.calls.Histories(now, g.Rows(), g.HolderOf)
	listed, lists := g.Choose(b.cfg.maxShown)
	s.Blocked, s.Omitted.Blocked = g.Blocked(ctx, listed, b.cfg.maxShown)
	s.Held, s.Omitted.Held = g.Held(ctx)
	s.Waiting, s.Omitted.Waiting = g.Waiting(ctx, lists)
	s.CountSlots()
	return s
}

// waited yields how long each unfinished call has waited, longest first. Candidates do not wait.
func waited(l *calls.Look) iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		for i := range l.Waiting {
			if w := &l.Waiting[i]; !w.StandsBy() && !yield(w.Waited(l.Now)) {
				return
			}
		}
	}
}
