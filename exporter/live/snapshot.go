package live

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/lockscope/lockscope/lock"
)

// foreverFrom is how much validity left means that a lease does not expire.
const foreverFrom = 10 * 365 * 24 * time.Hour

// State returns what is known at this instant. It asks no node and waits for
// nobody; when ctx ends, it returns what it has gathered so far and counts the
// rest as omitted. The caller may change what is returned. Concurrent calls are
// safe; one takes well below a millisecond unless many thousands of locks are held.
func (b *Board) State(ctx context.Context) State {
	now := time.Now()
	s := State{
		At: now.Round(0).UTC(), Instance: b.cfg.instance, Held: []Held{}, Waiting: []Waiter{},
		Waits: b.waits.points(now), Nodes: b.nodes.health(now), Slowest: b.slowest.acquisitions(now),
	}
	waiting, held := b.gather()
	s.Held, s.Omitted.Held = b.holders(ctx, held, now)
	s.Waiting, s.Omitted.Waiting = b.waiters(ctx, waiting, now)
	return s
}

// crowd is the oldest of those who wait, or hold, and how many there are.
type crowd struct {
	oldest []*lease
	n      int
}

// gather copies no more than can be shown while it keeps others out of a shard.
func (b *Board) gather() (waiting, held crowd) {
	for i := range b.shards {
		s := &b.shards[i]
		s.mu.Lock()
		waiting.take(&s.waiting, b.cfg.maxShown)
		held.take(&s.held, b.cfg.maxShown)
		s.mu.Unlock()
	}
	waiting.cut(b.cfg.maxShown, func(m *lease) time.Time { return m.began })
	held.cut(b.cfg.maxShown, func(m *lease) time.Time { return m.heldAt })
	return waiting, held
}

func (c *crowd) take(from *list, limit int) {
	c.n += from.n
	for m := from.first; m != nil && limit > 0; m = m.after {
		c.oldest = append(c.oldest, m)
		limit--
	}
}

// cut leaves the oldest, and those of one age by name.
func (c *crowd) cut(limit int, since func(*lease) time.Time) {
	slices.SortFunc(c.oldest, func(x, y *lease) int {
		return cmp.Or(since(x).Compare(since(y)), strings.Compare(x.resource, y.resource))
	})
	c.oldest = c.oldest[:min(limit, len(c.oldest))]
}

func (b *Board) holders(ctx context.Context, all crowd, now time.Time) (held []Held, omitted int) {
	held = make([]Held, 0, len(all.oldest))
	for i, m := range all.oldest {
		if ctx.Err() != nil {
			return held, all.n - i
		}
		if h, ok := m.tell(now); ok {
			held = append(held, h)
		}
	}
	return held, all.n - len(all.oldest)
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
	h.Extends, h.TraceID, h.Nodes = m.extends, traceText(m.trace), m.known.len()
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

func (b *Board) waiters(ctx context.Context, all crowd, now time.Time) (waiting []Waiter, omitted int) {
	waiting = make([]Waiter, 0, len(all.oldest))
	known := make(queues)
	for i, m := range all.oldest {
		if ctx.Err() != nil {
			return waiting, all.n - i
		}
		view := m.view()
		w := view.tell(now)
		w.Instance = m.owner.instance
		w.Resource, w.For = clip(m.resource, maxResource), max(now.Sub(m.began), 0).Seconds()
		w.Blocker = blockerOf(m, view, known, now)
		waiting = append(waiting, w)
	}
	return waiting, all.n - len(all.oldest)
}

// view is what a waiter does at one instant.
type view struct {
	hooked   bool
	doing    lock.WaitKind
	attempts int
	ahead    int
	trace    trace.TraceID
	lastErr  error
	blocker  *lock.HeldError
	toldAt   time.Time
}

func (c *call) view() view {
	c.mu.Lock()
	defer c.mu.Unlock()
	return view{
		hooked: c.Hooked(), doing: c.doing, attempts: c.attempts, ahead: c.ahead, trace: c.trace,
		lastErr: c.lastErr, blocker: c.blocker, toldAt: c.toldAt,
	}
}

func (v view) tell(now time.Time) Waiter {
	w := Waiter{Kind: kindAttempt, Attempts: v.attempts, Ahead: v.ahead, TraceID: traceText(v.trace)}
	if v.doing != doingAttempt {
		w.Kind = string(v.doing)
	}
	if v.lastErr != nil {
		w.Error = errorText(v.lastErr, maxError)
	}
	return w
}
