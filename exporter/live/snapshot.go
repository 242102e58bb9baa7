package live

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/records"
)

// foreverFrom is how much validity left means that a lease does not expire.
const foreverFrom = 10 * 365 * 24 * time.Hour

// State returns what is known at this instant. It asks no node and waits for
// nobody; when ctx ends, it lists what it has gathered so far and counts the
// rest as omitted. The caller may change what is returned. Concurrent calls are
// safe; one takes well below a millisecond unless many thousands hold or wait.
func (b *Board) State(ctx context.Context) State {
	now := time.Now()
	l := b.look(now)
	g := l.graph()
	s := State{
		At: now.Round(0).UTC(), Instance: b.cfg.instance, TraceURL: b.cfg.traceURL,
		Objectives: Objectives{Warning: b.cfg.warning.Seconds(), Alarm: b.cfg.alarm.Seconds()},
		Totals:     l.totals(g), Deadlocks: b.deadlocks.look(g, now),
		Waits: b.waits.points(now), Nodes: b.nodes.health(now), Slowest: b.slowest.acquisitions(now),
		History: b.histories(g, now),
	}
	listed, lists := l.choose(g)
	s.Blocked, s.Omitted.Blocked = g.blocked(ctx, listed, b.cfg.maxShown)
	s.Held, s.Omitted.Held = l.holders(ctx)
	s.Waiting, s.Omitted.Waiting = l.waiters(ctx, lists)
	return s
}

func (l *look) totals(g *graph) Totals {
	t := Totals{Held: l.held.n, Contended: len(g.rows), Recent: l.board.waits.recent(l.now, l.waiting)}
	for _, c := range g.rows {
		t.Waiting += len(c.waiters)
		t.Longest = max(t.Longest, c.waiters[0].waited(l.now).Seconds())
	}
	t.Attempting = len(l.waiting) - t.Waiting
	if len(l.held.oldest) > 0 {
		t.OldestHold = l.held.oldest[0].age(l.now).Seconds()
	}
	return t
}

func (l *look) holders(ctx context.Context) (held []Held, omitted int) {
	held = make([]Held, 0, len(l.held.oldest))
	for i, m := range l.held.oldest {
		if ctx.Err() != nil {
			return held, l.held.n - i
		}
		if h, ok := m.tell(l.now); ok {
			if c := l.wanted[m.id()]; c != nil && c.blocks {
				h.Waiters = len(c.waiters)
			}
			held = append(held, h)
		}
	}
	return held, l.held.n - len(l.held.oldest)
}

// tell describes a held lease; ok is false if it has ended and is about to leave.
func (m *lease) tell(now time.Time) (h Held, ok bool) {
	defer contain()
	if m.Next().Context().Err() != nil {
		return h, false
	}
	h = Held{
		Resource: clip(m.resource, maxResource), Holder: m.owner.instance, Age: m.age(now).Seconds(),
		Validity: m.validity(), Fence: m.Fence(),
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	h.Extends, h.TraceID, h.Nodes, h.CallSite = m.extends, traceText(m.trace), m.known.len(), clip(m.from().callSite, maxName)
	h.Backend = clip(m.backend, maxName)
	return h, true
}

func (m *lease) age(now time.Time) time.Duration { return max(now.Sub(m.heldAt), 0) }

// validity is what is left; nil if that is for ever.
func (m *lease) validity() *float64 {
	left := m.Remaining()
	if left >= foreverFrom {
		return nil
	}
	return seconds(max(left, 0))
}

// At most so many waiters of one resource are listed: some of each first, then more of
// those for which most is waited.
const (
	fewWaiters  = 5
	mostWaiters = 50
)

// choose picks the waiters to list: the longest of each resource, and then whoever else
// there is room for. listed is how many of each row.
func (l *look) choose(g *graph) (listed []int, chosen []*waiter) {
	room := l.board.cfg.maxShown
	listed = make([]int, len(g.rows))
	for _, upTo := range []int{fewWaiters, max(mostWaiters, l.board.cfg.maxShown/4)} {
		for i, c := range g.rows {
			n := max(min(upTo, len(c.waiters), listed[i]+room), listed[i])
			chosen = append(chosen, c.waiters[listed[i]:n]...)
			room -= n - listed[i]
			listed[i] = n
		}
	}
	for i := range l.waiting {
		if w := &l.waiting[i]; room > 0 && !l.wanted[w.id()].blocks {
			chosen = append(chosen, w)
			room--
		}
	}
	slices.SortStableFunc(chosen, func(x, y *waiter) int {
		return cmp.Or(x.began.Compare(y.began), cmp.Compare(x.resource, y.resource))
	})
	return listed, chosen
}

func (l *look) waiters(ctx context.Context, chosen []*waiter) (waiting []Waiter, omitted int) {
	waiting = make([]Waiter, 0, len(chosen))
	for _, w := range chosen {
		if ctx.Err() != nil {
			break
		}
		told := w.tell(l.now)
		told.Blocker = l.blockerOf(l.wanted[w.id()], w)
		waiting = append(waiting, told)
	}
	return waiting, len(l.waiting) - len(waiting)
}

func (w *waiter) tell(now time.Time) Waiter {
	t := Waiter{
		Resource: clip(w.resource, maxResource), Backend: clip(w.backend, maxName), Instance: w.owner.instance, For: w.waited(now).Seconds(),
		Kind: kindAttempt, Attempts: w.attempts, Ahead: w.ahead, CallSite: clip(w.callSite, maxName), TraceID: traceText(w.trace),
	}
	if w.doing != doingAttempt {
		t.Kind = string(w.doing)
	}
	for _, h := range w.holding[:min(len(w.holding), records.MaxHolds)] {
		t.Holds = append(t.Holds, w.heldText(h))
	}
	if w.lastErr != nil {
		t.Error = errorText(w.lastErr, maxError)
	}
	return t
}

// heldText names what the caller of a waiter holds, and where that is if it is on other nodes
// than those that it waits for.
func (w *waiter) heldText(h lock.Held) string {
	name := clip(h.Resource, maxResource)
	if h.Backend != w.backend {
		name += " (" + clip(h.Backend, maxName) + ")"
	}
	return name
}
